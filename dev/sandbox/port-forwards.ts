// Port forwards between a sandbox and its host: in the sandbox, a Unix socket in a folder that both share, piped to an address in the sandbox;
// on the host, a loopback port, piped to that socket. Bytes only, no protocol.
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net";
import { join } from "node:path";

/** The limit of Linux for socket paths. */
const MAX_PATH_BYTES = 107;

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface PublishOptions {
  /** A folder that sandbox and host share. */
  readonly folder: string;
  readonly name: string;
  /** A function is called for every connection, because the address may change. */
  readonly target: Endpoint | (() => Promise<Endpoint>);
}

export interface PublishedPort extends AsyncDisposable {
  /** Path of the Unix socket. */
  readonly socket: string;
}

export interface PortForward extends AsyncDisposable {
  /** On 127.0.0.1. */
  readonly port: number;
}

/** In the sandbox: connections to the socket are forwarded to the target. */
export async function publish({ folder, name, target }: PublishOptions): Promise<PublishedPort> {
  const socket = join(folder, `${name}.sock`);
  if (Buffer.byteLength(socket) > MAX_PATH_BYTES)
    throw new Error(`${socket} is too long for a socket: use a folder with a shorter path`);
  // The file of a socket outlives its server, and would block the next one.
  rmSync(socket, { force: true });
  const { server, close } = forward(typeof target === "function" ? target : () => Promise.resolve(target));
  await once(server.listen(socket), "listening");
  return { socket, [Symbol.asyncDispose]: close };
}

/** On the host: a loopback port, any free one unless given. */
export async function openPortForward({
  socket,
  port = 0,
}: {
  readonly socket: string;
  readonly port?: number;
}): Promise<PortForward> {
  const { server, close } = forward(() => Promise.resolve({ path: socket }));
  await once(server.listen({ port, host: "127.0.0.1" }), "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error(`no port was opened for ${socket}`);
  return { port: address.port, [Symbol.asyncDispose]: close };
}

function forward(target: () => Promise<NetConnectOpts>): {
  readonly server: Server;
  readonly close: () => Promise<void>;
} {
  const open = new Set<Socket>();
  const track = (socket: Socket): void => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  };
  // Each direction closes independently: one side may have sent everything and still wait for the response.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    track(near);
    near.once("error", () => near.destroy());
    // Nothing is read before the pipe is set up.
    target().then(
      (where) => {
        if (near.destroyed) return;
        const far = connect({ ...where, allowHalfOpen: true, noDelay: true });
        track(far);
        connectBoth(near, far);
      },
      // No target is handled like one that refuses the connection.
      () => near.destroy(),
    );
  });
  return {
    server,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function connectBoth(near: Socket, far: Socket): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.pipe(to);
    // A reset or a refused connection closes both sides, as it would without the forward.
    from.once("error", () => to.destroy());
    from.once("close", () => {
      if (!from.readableEnded) to.destroy();
    });
  }
}
