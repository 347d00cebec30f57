// HTTPS on one port: TLS 1.2 or newer, HTTP/1.1 unless HTTP/2 is asked for, limits against senders that dawdle, a certificate that
// can be replaced while connections stay open, and a stop that finishes what has begun. Knows nothing of what is served.
import type { IncomingHttpHeaders } from "node:http";
import type { Http2SecureServer, ServerHttp2Session } from "node:http2";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { KeyPair } from "../certificates/x509/certificate.ts";
import { IDLE_CONNECTION_MS, keepIdleConnections } from "./idle-connections.ts";

export interface TlsListenerOptions {
  /** Absent: all addresses. */
  readonly host?: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly http2: boolean;
  /** Shorter ones, for tests. */
  readonly timeouts?: Partial<TlsTimeouts>;
  /** Undefined: nobody is there to be answered. Must not reject. */
  answer(request: TlsRequest): Promise<TlsAnswer | undefined>;
}

/** What HTTP/1.1 and HTTP/2 requests have in common. */
export interface TlsRequest extends Readable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** A whole response. */
export interface TlsAnswer {
  readonly status: number;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** The rest of the request is not going to be read. */
  readonly hangUp?: true;
}

/** What HTTP/1.1 and HTTP/2 responses have in common. */
interface OutgoingAnswer {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string | Buffer): unknown;
}

/** Limits against senders that dawdle, in milliseconds. */
export interface TlsTimeouts {
  readonly handshakeTimeout: number;
  /** Between requests, and until a request has come in whole. */
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
  /** Connections of HTTP/1.1 on which nothing is being asked. */
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

  /** Rejects when the address cannot be bound. `onError` is told of what goes wrong later. */
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

  /** For connections that begin from now on. */
  replace({ certificate, key }: KeyPair): void {
    this.#server?.setSecureContext({ minVersion: MIN_VERSION, cert: certificate, key });
  }

  /** From now on every answer ends its connection, so that callers move on before the port closes. */
  announceStop(): void {
    this.#stopping = true;
  }

  /** Takes no more connections and waits for what has begun, until the signal fires. */
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
      // Node's own way out leaves those that were opened and never used, and would wait for them.
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
    // Megabytes that a process without HTTP/2 need not hold.
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

  async #exchange(request: TlsRequest, response: OutgoingAnswer, version: number): Promise<void> {
    const answer = await this.#options.answer(request);
    if (answer === undefined) return;
    response.statusCode = answer.status;
    for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
    if (version < 2 && (this.#stopping || answer.hangUp === true)) response.setHeader("connection", "close");
    response.end(answer.body);
    // What was not read of the body would otherwise hold up the connection.
    if (answer.hangUp === true) request.resume();
  }
}
