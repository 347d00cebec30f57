// The webhook server as a part of the manager: it listens as soon as there is a certificate, follows its changes, and
// shuts down without losing a request. The caller chooses certificate and rules.
import { type Clock, type Logger, pause, untilAborted } from "@firebolt-operator/kube";
import type { CertificateSource } from "@firebolt-operator/kube/certificates";
import type { Runnable } from "@firebolt-operator/kube/controller";
import { TlsListener, type TlsTimeouts } from "@firebolt-operator/kube/serving";
import { HOOKS, type HookId } from "../registration/hooks.ts";
import type { Validator } from "../validators/validator.ts";
import type { AdmissionMetrics } from "./admission-metrics.ts";
import { BodyBudget } from "./body-budget.ts";
import { type AdmissionLimits, ConcurrencyLimiter } from "./concurrency-limiter.ts";
import { type ExchangeResponse, handleExchange, type IncomingExchange } from "./exchange.ts";

export interface AdmissionServerOptions {
  /** Absent: all addresses. */
  readonly host?: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly http2?: boolean;
  readonly certificate: CertificateSource;
  readonly validators: Readonly<Record<HookId, Validator>>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: AdmissionMetrics;
  readonly limits?: AdmissionLimits;
  /** How long requests are still accepted after the stop was requested. Default 1 s. */
  readonly overlapMs?: number;
  /** Tests shorten them. */
  readonly timeouts?: Partial<TlsTimeouts>;
}

export interface AdmissionServer extends Runnable {
  /** The port in use, once listening. */
  readonly port: number | undefined;
}

const LIMITS: AdmissionLimits = { requests: 64, bytes: 64 * 1024 * 1024, waiting: 2_000 };
/** Callers continue for a moment after the process has reported that it is not ready. */
const OVERLAP_MS = 1_000;
/** For requests in flight. Together with the overlap well below the shutdown timeout. */
const FINISH_MS = 5_000;

export function createAdmissionServer(options: AdmissionServerOptions): AdmissionServer {
  const { certificate, clock, metrics, limits = LIMITS, overlapMs = OVERLAP_MS } = options;
  const logger = options.logger.with({ logger: "admission" });
  const routes = new Map(HOOKS.map((hook) => [hook.path, { hook, validator: options.validators[hook.id] }]));
  const limiter = new ConcurrencyLimiter(limits);
  const budget = new BodyBudget(limits.bytes);
  const known = new WeakSet<object>();
  const listening = Promise.withResolvers<void>();

  const answer = async (request: IncomingExchange): Promise<ExchangeResponse | undefined> => {
    try {
      return await handleExchange(request, { routes, limiter, budget, known, clock, logger, metrics });
    } catch (error) {
      logger.error("handling an admission request failed", error);
      return { status: 500, body: "internal error\n", hangUp: true };
    }
  };
  const { host, port, http2 = false, timeouts = {} } = options;
  const listener = new TlsListener({ port, http2, respond: answer, timeouts, ...(host === undefined ? {} : { host }) });

  const serve = async (signal: AbortSignal): Promise<void> => {
    const failed = Promise.withResolvers<never>();
    // A failure before the race below must not count as unhandled.
    failed.promise.catch(() => undefined);
    const pair = await certificate.whenLoaded(signal);
    await listener.listen(pair, failed.reject);
    const unsubscribe = certificate.onPair((next) => listener.replace(next));
    logger.info("admission webhooks listening", { port: listener.port });
    listening.resolve();
    try {
      await untilAborted(failed.promise, signal);
    } finally {
      unsubscribe();
    }
  };

  /** The certificate is kept current until the last connection is closed. */
  const stop = async (): Promise<void> => {
    const never = new AbortController();
    listener.announceStop();
    if (listener.port !== undefined) await pause(clock, overlapMs, never.signal);
    const giveUp = new AbortController();
    const cancel = clock.after(FINISH_MS, () => giveUp.abort());
    await listener.stop(giveUp.signal);
    cancel();
  };

  return {
    name: "webhooks",
    group: "servers",
    get port() {
      return listener.port;
    },
    whenReady: (signal) => untilAborted(listening.promise, signal),
    async run(signal) {
      const keeping = new AbortController();
      const kept = certificate.run(keeping.signal);
      try {
        await Promise.race([serve(signal), kept]);
      } catch (error) {
        if (!(signal.aborted && error === signal.reason)) throw error;
      } finally {
        await stop();
        keeping.abort();
        await kept;
      }
    },
  };
}
