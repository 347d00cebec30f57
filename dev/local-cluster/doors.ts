// Doors between a private machine and its host: inside, a Unix socket in a folder that both see, piped to an address of the private
// machine; on the host, a port on loopback, piped to that socket. What goes through is bytes: it knows no protocol.
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net";
import { join } from "node:path";

/** Linux keeps no longer paths for sockets. */
const MAX_PATH_BYTES = 107;

export interface Target {
  readonly host: string;
  readonly port: number;
}

export interface PublishOptions {
  /** A folder that the host sees, too. */
  readonly folder: string;
  readonly name: string;
  /** As a function: asked for every connection, because the address may change meanwhile. */
  readonly target: Target | (() => Promise<Target>);
}

export interface PublishedDoor extends AsyncDisposable {
  /** Path of the Unix socket. */
  readonly socket: string;
}

export interface OpenDoor extends AsyncDisposable {
  /** On 127.0.0.1. */
  readonly port: number;
}

/** The inside: whoever connects to the socket is connected to the target. */
export async function publish({ folder, name, target }: PublishOptions): Promise<PublishedDoor> {
  const socket = join(folder, `${name}.sock`);
  if (Buffer.byteLength(socket) > MAX_PATH_BYTES)
    throw new Error(`${socket} is too long for a socket: give a folder with a shorter path`);
  // A socket that nobody serves any more stays as a file and would be in the way.
  rmSync(socket, { force: true });
  const { server, close } = forward(typeof target === "function" ? target : () => Promise.resolve(target));
  await once(server.listen(socket), "listening");
  return { socket, [Symbol.asyncDispose]: close };
}

/** The host's side: a port on loopback, any free one unless it is given. */
export async function openDoor({
  socket,
  port = 0,
}: {
  readonly socket: string;
  readonly port?: number;
}): Promise<OpenDoor> {
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
  // Each direction ends by itself: one side may be done sending and still wait for the answer.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    track(near);
    near.once("error", () => near.destroy());
    // Nothing is read from it before it is piped.
    target().then(
      (where) => {
        if (near.destroyed) return;
        const far = connect({ ...where, allowHalfOpen: true, noDelay: true });
        track(far);
        connectBoth(near, far);
      },
      // No target is like one that refuses.
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
    // A reset, or a target that refuses, ends the connection on both sides, as it would without a door.
    from.once("error", () => to.destroy());
    from.once("close", () => {
      if (!from.readableEnded) to.destroy();
    });
  }
}
