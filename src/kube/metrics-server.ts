// GET /metrics over plain HTTP, in the Prometheus text format, compressed for those who ask. It checks nobody's identity:
// bind it where only the scraper can reach it.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Registry } from "prom-client";
import { createHttpListener, type HttpAnswer } from "./http-listener.ts";
import type { Logger } from "./logger.ts";
import type { Runnable } from "./runnable.ts";

export interface MetricsServerOptions {
  readonly registry: Registry;
  readonly logger: Logger;
  /** Absent: all addresses. */
  readonly host?: string;
  readonly port: number;
}

export interface MetricsServer extends Runnable {
  readonly port: number | undefined;
}

const compress = promisify(gzip);

export function createMetricsServer({ registry, logger, host, port }: MetricsServerOptions): MetricsServer {
  const listener = createHttpListener({
    port,
    logger,
    ...(host === undefined ? {} : { host }),
    answer: (url, headers) =>
      url.pathname === "/metrics"
        ? scrape(registry, String(headers["accept-encoding"] ?? ""))
        : Promise.resolve({ status: 404, body: "not found\n" }),
  });
  return {
    name: "metrics",
    group: "servers",
    get port() {
      return listener.port;
    },
    run: (signal) => listener.run(signal),
    whenReady: (signal) => listener.whenListening(signal),
  };
}

async function scrape(registry: Registry, acceptEncoding: string): Promise<HttpAnswer> {
  const text = await registry.metrics();
  const headers = { "content-type": registry.contentType };
  if (!/\bgzip\b/.test(acceptEncoding)) return { status: 200, body: text, headers };
  return { status: 200, body: await compress(text), headers: { ...headers, "content-encoding": "gzip" } };
}
