// A plain HTTP(S) server on loopback whose responses a test scripts byte by byte: for the behaviour of the transport
// only. It imitates no API; tests of API behaviour run against a real API server.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { type Authority, createAuthority } from "./authority.ts";

/** A request as received. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Number of the connection, so that a test can tell whether two requests shared one. */
  readonly connection: number;
  /** Common name of the client certificate. */
  readonly peer: string | undefined;
}

/** Writes the response to one request, byte by byte if need be. */
export type Script = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

/** A running server, with the requests it has received. */
export interface Loopback extends AsyncDisposable {
  readonly port: number;
  readonly authority: Authority;
  readonly seen: SeenRequest[];
  readonly sockets: ReadonlySet<Socket>;
  /** Connections accepted so far. */
  readonly connections: number;
  config(more?: Partial<ClusterConfig>): ClusterConfig;
}

/** A plain HTTP(S) server whose responses a test scripts: for behaviour of the transport. It imitates no API. */
export async function startLoopback(script: Script, options: { readonly tls?: boolean } = {}): Promise<Loopback> {
  const authority = createAuthority("loopback");
  const { certificate, key } = authority.issue({
    commonName: "loopback",
    usages: ["server"],
    hosts: ["127.0.0.1", "api.internal"],
  });
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const numbers = new WeakMap<Socket, number>();
  let connections = 0;
  const run = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const entry = {
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
      body: await text(request),
      connection: numbers.get(request.socket) ?? 0,
      peer: options.tls ? commonName(request.socket as TLSSocket) : undefined,
    };
    seen.push(entry);
    await script(entry, response);
  };
  // A failing script shows as a broken connection in its test.
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    run(request, response).catch((error: Error) => response.destroy(error));
  };
  const server: Server = options.tls
    ? createSecureServer(
        { cert: certificate, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false },
        onRequest,
      )
    : createServer(onRequest);
  server.on(options.tls ? "secureConnection" : "connection", (socket: Socket) => {
    connections += 1;
    numbers.set(socket, connections);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    authority,
    seen,
    sockets,
    get connections() {
      return connections;
    },
    config: (more) => ({
      origin: "loopback",
      server: `${options.tls ? "https" : "http"}://127.0.0.1:${port}`,
      ...(options.tls && { certificateAuthority: { type: "inline", pem: authority.certificate } }),
      authentication: { type: "none" },
      ...more,
    }),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function commonName(socket: TLSSocket): string | undefined {
  const name = socket.getPeerCertificate()?.subject?.CN;
  return Array.isArray(name) ? name[0] : name;
}

/** The certificate of an authority that issued none of the certificates in use. */
export const unknownAuthority = (): string => createAuthority("unknown").certificate;

/** Sends a JSON response. */
export function respondJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}
