// A minimal Service: a connection to the port is forwarded to the first backend that accepts it, as kube-proxy would
// skip terminated pods. Copies bytes only.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export async function forwardToLive(port: number, backends: readonly number[]): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    incoming.on("error", () => incoming.destroy());
    incoming.pause();
    void dialFirst(backends).then((outgoing) => {
      if (outgoing === undefined) return void incoming.destroy();
      for (const [from, to] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        sockets.add(from);
        from.on("error", () => to.destroy());
        from.once("close", () => {
          sockets.delete(from);
          to.destroy();
        });
        from.pipe(to);
      }
      return undefined;
    });
  });
  server.listen(port, "0.0.0.0");
  await once(server, "listening");
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** The first that accepts a connection; undefined when none does. */
async function dialFirst(ports: readonly number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const socket = connect(port, "127.0.0.1");
    const connected = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    if (connected) return socket;
  }
  return undefined;
}
