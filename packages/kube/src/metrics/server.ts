// GET /metrics. Secure: over HTTPS, for bearer tokens whose user the API server authorizes for the path. Otherwise in
// plain HTTP without authentication: bind it to an address that only the scraper can reach.
import type { IncomingHttpHeaders } from "node:http";
import type { Registry } from "prom-client";
import type { CertificateSource } from "../certificates/serving-certificate.ts";
import type { Runnable } from "../controller/runnable.ts";
import type { Logger } from "../core/logger.ts";
import type { AccessReview } from "../serving/access-review.ts";
import { createHttpListener, type HttpListener } from "../serving/http-listener.ts";
import type { HttpResponse } from "../serving/http-response.ts";
import { createHttpsListener } from "../serving/https-listener.ts";
import { renderMetrics } from "./exposition.ts";

/** The path of the metrics endpoint. */
export const METRICS_PATH = "/metrics";

/** Options of the metrics server. */
export interface MetricsServerOptions {
  readonly registry: Registry;
  readonly logger: Logger;
  /** Absent: all addresses. */
  readonly host?: string;
  readonly port: number;
  /** Absent: plain HTTP without authentication. */
  readonly secure?: SecureMetrics;
}

/** The certificate and the authorization of a secure metrics server. */
export interface SecureMetrics {
  readonly certificate: CertificateSource;
  readonly access: AccessReview;
  readonly http2?: boolean;
}

/** The metrics server, with its port once it listens. */
export interface MetricsServer extends Runnable {
  readonly port: number | undefined;
}

/** GET /metrics, in plain HTTP, or over HTTPS for users whom the API server authorizes. */
export function createMetricsServer(options: MetricsServerOptions): MetricsServer {
  const { registry, secure } = options;
  const logger = options.logger.with({ server: "metrics" });
  const stopping = new AbortController();
  const respond = async (url: URL, headers: IncomingHttpHeaders): Promise<HttpResponse> => {
    if (url.pathname !== METRICS_PATH) return { status: 404, body: "not found\n" };
    const refusal = secure && (await rejectionOf(headers, { access: secure.access, logger, signal: stopping.signal }));
    return refusal ?? renderMetrics(registry, headers);
  };
  const listener = listenerFor({ ...options, logger }, respond);
  return {
    name: "metrics",
    group: "servers",
    get port() {
      return listener.port;
    },
    async run(signal) {
      // Pending reviews are aborted with the server.
      const stop = (): void => stopping.abort();
      signal.addEventListener("abort", stop, { once: true });
      await listener.run(signal).finally(() => signal.removeEventListener("abort", stop));
    },
    whenReady: (signal) => listener.whenListening(signal),
  };
}

function listenerFor(
  { logger, host, port, secure }: MetricsServerOptions,
  respond: (url: URL, headers: IncomingHttpHeaders) => Promise<HttpResponse>,
): HttpListener {
  const plain = { logger, port, respond, ...(host === undefined ? {} : { host }) };
  if (secure === undefined) return createHttpListener(plain);
  const { certificate, http2 = false } = secure;
  return createHttpsListener({ ...plain, certificate, http2 });
}

interface AccessContext {
  readonly access: AccessReview;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

async function rejectionOf(
  { authorization = "" }: IncomingHttpHeaders,
  { access, logger, signal }: AccessContext,
): Promise<HttpResponse | undefined> {
  const token = /^Bearer +(\S+)$/i.exec(authorization.trim())?.[1];
  if (token === undefined) return UNAUTHENTICATED;
  try {
    const verdict = await access.check(token, signal);
    if (verdict === "allowed") return undefined;
    return verdict === "denied" ? { status: 403, body: "forbidden\n" } : UNAUTHENTICATED;
  } catch (error) {
    logger.error("token review failed", error);
    return { status: 500, body: "token review failed\n" };
  }
}

const UNAUTHENTICATED: HttpResponse = {
  status: 401,
  body: "unauthorized\n",
  headers: { "www-authenticate": 'Bearer realm="metrics"' },
};
