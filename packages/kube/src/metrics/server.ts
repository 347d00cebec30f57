// GET /metrics. Secure: over HTTPS, for bearers of a token whose owner the API server knows and lets read the path. Otherwise in
// plain HTTP and for everybody: then bind it where only the scraper can reach it.
import type { IncomingHttpHeaders } from "node:http";
import type { Registry } from "prom-client";
import type { CertificateSource } from "../certificates/serving-certificate.ts";
import type { Runnable } from "../controller/runnable.ts";
import type { Logger } from "../core/logger.ts";
import type { AccessReview } from "../serving/access-review.ts";
import type { HttpAnswer } from "../serving/http-answer.ts";
import { createHttpListener, type HttpListener } from "../serving/http-listener.ts";
import { createHttpsListener } from "../serving/https-listener.ts";
import { renderMetricsPage } from "./page.ts";

/** Where metrics are read. */
export const METRICS_PATH = "/metrics";

export interface MetricsServerOptions {
  readonly registry: Registry;
  readonly logger: Logger;
  /** Absent: all addresses. */
  readonly host?: string;
  readonly port: number;
  /** Absent: plain HTTP, no questions asked. */
  readonly secure?: SecureMetrics;
}

export interface SecureMetrics {
  readonly certificate: CertificateSource;
  readonly access: AccessReview;
  readonly http2?: boolean;
}

/** A server of metrics, with its port once it listens. */
export interface MetricsServer extends Runnable {
  readonly port: number | undefined;
}

/** GET /metrics, in plain HTTP, or over HTTPS for those whom the API server lets read it. */
export function createMetricsServer(options: MetricsServerOptions): MetricsServer {
  const { registry, secure } = options;
  const logger = options.logger.with({ server: "metrics" });
  const stopping = new AbortController();
  const answer = async (url: URL, headers: IncomingHttpHeaders): Promise<HttpAnswer> => {
    if (url.pathname !== METRICS_PATH) return { status: 404, body: "not found\n" };
    const refusal = secure && (await refusalOf(headers, { access: secure.access, logger, signal: stopping.signal }));
    return refusal ?? renderMetricsPage(registry, headers);
  };
  const listener = listenerFor({ ...options, logger }, answer);
  return {
    name: "metrics",
    group: "servers",
    get port() {
      return listener.port;
    },
    async run(signal) {
      // Reviews that nobody waits for any more end with the server.
      const stop = (): void => stopping.abort();
      signal.addEventListener("abort", stop, { once: true });
      await listener.run(signal).finally(() => signal.removeEventListener("abort", stop));
    },
    whenReady: (signal) => listener.whenListening(signal),
  };
}

function listenerFor(
  { logger, host, port, secure }: MetricsServerOptions,
  answer: (url: URL, headers: IncomingHttpHeaders) => Promise<HttpAnswer>,
): HttpListener {
  const plain = { logger, port, answer, ...(host === undefined ? {} : { host }) };
  if (secure === undefined) return createHttpListener(plain);
  const { certificate, http2 = false } = secure;
  return createHttpsListener({ ...plain, certificate, http2 });
}

interface Gatekeeping {
  readonly access: AccessReview;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

async function refusalOf(
  { authorization = "" }: IncomingHttpHeaders,
  { access, logger, signal }: Gatekeeping,
): Promise<HttpAnswer | undefined> {
  const token = /^Bearer +(\S+)$/i.exec(authorization.trim())?.[1];
  if (token === undefined) return UNAUTHENTICATED;
  try {
    const verdict = await access.check(token, signal);
    if (verdict === "allowed") return undefined;
    return verdict === "denied" ? { status: 403, body: "forbidden\n" } : UNAUTHENTICATED;
  } catch (error) {
    logger.error("a token could not be reviewed", error);
    return { status: 500, body: "the token could not be reviewed\n" };
  }
}

const UNAUTHENTICATED: HttpAnswer = {
  status: 401,
  body: "unauthorized\n",
  headers: { "www-authenticate": 'Bearer realm="metrics"' },
};
