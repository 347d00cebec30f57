// /healthz and /readyz: named checks, each of which returns a problem or undefined. The server only reports; the owner
// of a check decides what is healthy or ready.
import type { Runnable } from "../controller/runnable.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { createHttpListener } from "./http-listener.ts";
import type { HttpResponse } from "./http-response.ts";

/** Returns the problem; undefined if there is none. */
export type Check = () => string | undefined;

/** Options of the probe server. */
export interface ProbesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent: all addresses. */
  readonly host?: string;
  readonly port: number;
}

/** /healthz and /readyz, made of named checks. */
export interface Probes extends Runnable {
  readonly port: number | undefined;
  addHealthCheck(name: string, check: Check): void;
  addReadyCheck(name: string, check: Check): void;
  /** The response to one request, without a socket. */
  respond(url: URL): HttpResponse;
}

const TURN_EVERY_MS = 1_000;
const STALLED_AFTER_MS = 20_000;

/** The server of /healthz and /readyz. A manager adds the checks of what it runs. */
export function createProbes({ clock, logger, host, port }: ProbesOptions): Probes {
  const health = new Map<string, Check>();
  const ready = new Map<string, Check>();
  let turnedMs = clock.monotonicMs();
  health.set("event-loop", () => {
    const stalledMs = clock.monotonicMs() - turnedMs;
    return stalledMs > STALLED_AFTER_MS ? `stalled for ${Math.round(stalledMs / 1000)} s` : undefined;
  });

  const respond = (url: URL): HttpResponse => {
    const [, endpoint = "", name] = url.pathname.split("/");
    const checks = endpoint === "healthz" ? health : endpoint === "readyz" ? ready : undefined;
    if (checks === undefined) return { status: 404, body: "not found\n" };
    if (name === undefined || name === "") return report(endpoint, checks, url.searchParams.has("verbose"));
    const check = checks.get(name);
    if (check === undefined) return { status: 404, body: `no check named ${JSON.stringify(name)}\n` };
    return report(endpoint, new Map([[name, check]]), url.searchParams.has("verbose"));
  };

  const listener = createHttpListener({
    port,
    logger,
    ...(host === undefined ? {} : { host }),
    respond: (url) => Promise.resolve(respond(url)),
  });

  return {
    name: "probes",
    group: "probes",
    get port() {
      return listener.port;
    },
    addHealthCheck: (check, run) => health.set(check, run),
    addReadyCheck: (check, run) => ready.set(check, run),
    respond,
    whenReady: (signal) => listener.whenListening(signal),
    async run(signal) {
      let cancel = (): void => undefined;
      const turn = (): void => {
        turnedMs = clock.monotonicMs();
        cancel = clock.after(TURN_EVERY_MS, turn);
      };
      turn();
      try {
        await listener.run(signal);
      } finally {
        cancel();
      }
    },
  };
}

/** In the format of Kubernetes' own components; a failing response always lists its checks. */
function report(endpoint: string, checks: ReadonlyMap<string, Check>, verbose: boolean): HttpResponse {
  const results = [...checks].map(([name, check]) => ({ name, problem: check() }));
  const failed = results.some(({ problem }) => problem !== undefined);
  if (!failed && !verbose) return { status: 200, body: "ok" };
  const lines = results.map(({ name, problem }) =>
    problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
  );
  return {
    status: failed ? 503 : 200,
    body: `${[...lines, `${endpoint} check ${failed ? "failed" : "passed"}`].join("\n")}\n`,
    headers: { "content-type": "text/plain; charset=utf-8" },
  };
}
