// HTTPS on one port: TLS 1.2 or newer, HTTP/1.1 (HTTP/2 on request), limits against slow clients, a certificate that
// can be replaced while connections stay open, and a graceful stop. Knows nothing of what is served.
import type { IncomingHttpHeaders } from "node:http";
import type { Http2SecureServer, ServerHttp2Session } from "node:http2";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { KeyPair } from "../certificates/x509/certificate.ts";
import { IDLE_CONNECTION_MS, keepIdleConnections } from "./idle-connections.ts";

/** Options of a TLS listener. */
export interface TlsListenerOptions {
  /** Absent: all addresses. */
  readonly host?: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly http2: boolean;
  /** Overrides the default timeouts, for tests. */
  readonly timeouts?: Partial<TlsTimeouts>;
  /** Undefined: the client is gone and gets no response. Must not reject. */
  respond(request: TlsRequest): Promise<TlsResponse | undefined>;
}

/** What HTTP/1.1 and HTTP/2 requests have in common. */
export interface TlsRequest extends Readable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** A whole response. */
export interface TlsResponse {
  readonly status: number;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** The rest of the request is not read; the connection is closed. */
  readonly hangUp?: true;
}

/** What HTTP/1.1 and HTTP/2 responses have in common. */
interface OutgoingResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string | Buffer): unknown;
}

/** Limits against slow clients, in milliseconds. */
export interface TlsTimeouts {
  readonly handshakeTimeout: number;
  /** Between requests, and until a request is complete. */
  readonly idleTimeout: number;
  readonly connectionsCheckingInterval: number;
}

const TIMEOUTS: TlsTimeouts = {
  handshakeTimeout: 5_000,
  idleTimeout: IDLE_CONNECTION_MS,
  connectionsCheckingInterval: 1_000,
};
const MIN_VERSION = "TLSv1.2";
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 4_096;
const MAX_STREAMS = 250;

/** HTTPS on one port, with a certificate that can be replaced while connections stay open. */
export class TlsListener {
  readonly #options: TlsListenerOptions;
  readonly #sockets = new Set<Socket>();
  /** HTTP/1.1 connections without a request in progress. */
  readonly #idle = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  #server: Server | Http2SecureServer | undefined;
  #stopping = false;

  constructor(options: TlsListenerOptions) {
    this.#options = options;
  }

  /** The port in use, once listening. */
  get port(): number | undefined {
    const address = this.#server?.address();
    return typeof address === "object" ? address?.port : undefined;
  }

  /** Rejects if the address cannot be bound. `onError` receives later errors. */
  async listen({ certificate, key }: KeyPair, onError: (error: Error) => void): Promise<void> {
    const { host, port } = this.#options;
    const server = await this.#create({ certificate, key });
    this.#server = server;
    server.maxConnections = MAX_CONNECTIONS;
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
        server.off("error", reject).on("error", onError);
        resolve();
      });
    });
  }

  /** Applies to new connections. */
  replace({ certificate, key }: KeyPair): void {
    this.#server?.setSecureContext({ minVersion: MIN_VERSION, cert: certificate, key });
  }

  /** From now on every response closes its connection, so that clients move on before the port closes. */
  announceStop(): void {
    this.#stopping = true;
  }

  /** Accepts no more connections and waits for requests in progress, until the signal fires. */
  async stop(giveUp: AbortSignal): Promise<void> {
    this.#stopping = true;
    const server = this.#server;
    if (server === undefined) return;
    const cut = (): void => {
      for (const socket of this.#sockets) socket.destroy();
    };
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const session of this.#sessions) session.close();
      // server.close() keeps connections that were opened and never used, and would wait for them.
      for (const socket of this.#idle) socket.destroy();
      if (giveUp.aborted) cut();
      else giveUp.addEventListener("abort", cut, { once: true });
    });
    giveUp.removeEventListener("abort", cut);
  }

  async #create({ certificate, key }: KeyPair): Promise<Server | Http2SecureServer> {
    const { idleTimeout, ...timeouts } = { ...TIMEOUTS, ...this.#options.timeouts };
    const tls = {
      ...timeouts,
      ...keepIdleConnections(idleTimeout),
      minVersion: MIN_VERSION,
      maxHeaderSize: MAX_HEADER_BYTES,
      cert: certificate,
      key,
    } as const;
    if (!this.#options.http2) {
      const server = createServer({ ...tls, ALPNProtocols: ["http/1.1"] }, (request, response) => {
        this.#idle.delete(request.socket);
        response.once("close", () => {
          if (!request.socket.destroyed) this.#idle.add(request.socket);
        });
        void this.#exchange(request, response, request.httpVersionMajor);
      });
      server.on("secureConnection", (socket) => {
        this.#idle.add(socket);
        socket.once("close", () => this.#idle.delete(socket));
      });
      return server;
    }
    // Imported on demand: HTTP/2 costs megabytes of memory.
    const { createSecureServer } = await import("node:http2");
    const server = createSecureServer(
      { ...tls, allowHTTP1: true, settings: { maxConcurrentStreams: MAX_STREAMS } },
      (request, response) => {
        void this.#exchange(request, response, request.httpVersionMajor);
      },
    );
    server.on("session", (session) => {
      this.#sessions.add(session);
      session.setTimeout(idleTimeout, () => session.close());
      session.once("close", () => this.#sessions.delete(session));
    });
    return server;
  }

  async #exchange(request: TlsRequest, response: OutgoingResponse, version: number): Promise<void> {
    const result = await this.#options.respond(request);
    if (result === undefined) return;
    response.statusCode = result.status;
    for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, value);
    if (version < 2 && (this.#stopping || result.hangUp === true)) response.setHeader("connection", "close");
    response.end(result.body);
    // Unread parts of the body would otherwise block the connection.
    if (result.hangUp === true) request.resume();
  }
}
