// A plain HTTP server that serves GET requests from a function: the transport of probes and metrics. Parses no bodies,
// keeps no state, and is not meant for traffic from outside the cluster.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "../core/logger.ts";
import { untilAborted } from "../core/until-aborted.ts";
import { type GetHandler, handleGet } from "./http-response.ts";
import { keepIdleConnections } from "./idle-connections.ts";

export interface HttpListenerOptions {
  /** Absent: all addresses. */
  readonly host?: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly logger: Logger;
  readonly respond: GetHandler;
}

export interface HttpListener {
  /** The port in use, once listening. */
  readonly port: number | undefined;
  /** Rejects when the address cannot be bound. */
  run(signal: AbortSignal): Promise<void>;
  whenListening(signal: AbortSignal): Promise<void>;
}

/** Requests in flight get this long when the server stops. */
const CLOSE_GRACE_MS = 500;

export function createHttpListener(options: HttpListenerOptions): HttpListener {
  const listening = Promise.withResolvers<void>();
  let port: number | undefined;

  const server = createServer(keepIdleConnections(), (request, response) => {
    void handleGet(request, options.respond, options.logger).then(({ status, headers, body }) => {
      response.writeHead(status, headers);
      response.end(request.method === "HEAD" ? undefined : body);
    });
  });

  return {
    get port() {
      return port;
    },
    async run(signal) {
      if (signal.aborted) return;
      const stopped = Promise.withResolvers<void>();
      server.on("error", stopped.reject);
      server.listen({ port: options.port, ...(options.host === undefined ? {} : { host: options.host }) }, () => {
        port = boundPort(server);
        listening.resolve();
      });
      const onAbort = (): void => stopped.resolve();
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        await stopped.promise;
      } finally {
        signal.removeEventListener("abort", onAbort);
        await closed(server);
      }
    },
    whenListening: (signal) => untilAborted(listening.promise, signal),
  };
}

function boundPort(server: Server): number | undefined {
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" ? address?.port : undefined;
}

function closed(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
