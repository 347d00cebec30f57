// One HTTP request: sends it, returns the response head, and reads bodies within a limit. Built on node:http(s) for its
// small footprint. Knows nothing of Kubernetes, does not retry rejected requests, and follows no redirects.
import { type IncomingMessage, type OutgoingHttpHeaders, request as sendHttp } from "node:http";
import { request as sendHttps } from "node:https";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { TlsMaterial } from "../../config/tls-material.ts";
import { KubeConnectionError, KubeTimeoutError, ResponseTooLargeError } from "../../core/errors.ts";
import type { CallDeadline } from "../call-deadline.ts";
import type { AgentPair, ServerAddress, TransportAgents } from "./agents.ts";

export interface WireRequest {
  readonly method: string;
  /** Path and query, without the server's base path. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | undefined;
  readonly pool: keyof AgentPair;
  /** Called when the request has an open connection, just before its first byte; if it throws, nothing is sent. */
  readonly beforeSend: (() => void) | undefined;
  /** Limit for obtaining a connection, and again from there to the response headers; undefined: the deadline alone. */
  readonly firstByteMs: number | undefined;
}

/** A failed attempt on a kept-alive socket that the server had closed, safe to send again. */
class StaleSocketError extends KubeConnectionError {}

export class Transport {
  readonly #server: ServerAddress;
  readonly #agents: TransportAgents;

  constructor(server: ServerAddress, agents: TransportAgents) {
    this.#server = server;
    this.#agents = agents;
  }

  /** Resolves with the response head; the body is still to be read (or destroyed). */
  async send(request: WireRequest, tls: TlsMaterial, deadline: CallDeadline): Promise<IncomingMessage> {
    try {
      return await this.#attempt(request, tls, deadline);
    } catch (error) {
      if (!(error instanceof KubeConnectionError || error instanceof KubeTimeoutError)) throw error;
      // The other idle sockets are most likely closed too; a second attempt then uses a new connection.
      this.#agents.dropIdle();
      if (error instanceof StaleSocketError) return this.#attempt(request, tls, deadline);
      throw error;
    }
  }

  #attempt(wire: WireRequest, tls: TlsMaterial, deadline: CallDeadline): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      deadline.check();
      const { host, port, secure, basePath } = this.#server;
      const request = (secure ? sendHttps : sendHttp)({
        host,
        port,
        method: wire.method,
        path: basePath + wire.path,
        headers: wire.headers,
        agent: this.#agents.for(tls)[wire.pool],
      });
      let bytesBefore = -1;
      const limit = (what: string): (() => void) =>
        wire.firstByteMs === undefined ? () => undefined : deadline.limit(wire.firstByteMs, what);
      let cancelLimit = limit("connection");
      const uninterested = deadline.onInterrupt((reason) => {
        cancelLimit();
        reject(reason);
        request.destroy();
      });
      const done = (): void => {
        cancelLimit();
        uninterested();
      };
      const release = (): void => {
        if (request.destroyed) return;
        cancelLimit();
        cancelLimit = limit("response headers");
        try {
          wire.beforeSend?.();
          // Node adds the length by itself, but not for DELETE, whose body would then run into the next request.
          if (wire.body !== undefined) request.setHeader("content-length", Buffer.byteLength(wire.body));
          request.end(wire.body);
        } catch (error) {
          done();
          reject(error);
          request.destroy();
        }
      };
      request.on("socket", (socket) => {
        bytesBefore = socket.bytesWritten;
        // Waiting for a free socket or a handshake can take long: the fence is checked only after that.
        if (isOpening(socket)) socket.once(secure ? "secureConnect" : "connect", release);
        else release();
      });
      request.on("response", (response) => {
        done();
        resolve(response);
      });
      request.on("error", (cause) => {
        done();
        const stale = request.reusedSocket && isReset(cause);
        // A GET changes nothing, so it may always be repeated. A write may be repeated only if not one byte of it was
        // written to the socket: after that the server may have executed it, whatever happened to the connection.
        const harmless = wire.method === "GET" || request.socket?.bytesWritten === bytesBefore;
        const message = `${wire.method} ${wire.path.split("?", 1)[0]}: ${describe(cause)}`;
        reject(
          stale && harmless ? new StaleSocketError(message, { cause }) : new KubeConnectionError(message, { cause }),
        );
      });
    });
  }
}

/**
 * A socket handed over by another request is already open and emits no event again, even if Node does not call it
 * reused.
 */
function isOpening(socket: Socket): boolean {
  if (socket instanceof TLSSocket)
    return "secureConnecting" in socket ? socket.secureConnecting === true : socket.connecting;
  return socket.connecting;
}

/** The whole body as a string. Past the limit the connection is closed rather than the rest read. */
export function readBody(
  response: IncomingMessage,
  options: { readonly deadline: CallDeadline; readonly maxBytes: number; readonly request: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const { deadline, maxBytes, request } = options;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const fail = (error: unknown): void => {
      done();
      reject(error);
      response.destroy();
    };
    const done = deadline.onInterrupt((reason) => {
      reject(reason);
      response.destroy();
    });
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes)
        fail(new ResponseTooLargeError(`${request}: the response is larger than ${maxBytes} bytes`));
      else chunks.push(chunk);
    });
    response.on("end", () => {
      done();
      const [first] = chunks;
      if (first !== undefined && chunks.length === 1) resolve(first.toString("utf8"));
      else resolve(Buffer.concat(chunks, bytes).toString("utf8"));
    });
    response.on("error", (cause) =>
      fail(new KubeConnectionError(`${request}: connection broken inside the response: ${describe(cause)}`, { cause })),
    );
  });
}

const isReset = (error: Error): boolean => "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");

/** Node's error for "every address failed" has no message of its own. */
export function describe(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map((inner: Error) => inner.message).join("; ");
  return error.message;
}
