// A Service in miniature: connections to one loopback port go round the replicas behind it. Copies bytes and knows nothing else.
import { connect, createServer, type Socket } from "node:net";

export interface Balancer extends AsyncDisposable {
  readonly port: number;
  /** Connections so far, per replica. */
  readonly connections: readonly number[];
}

export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const connections = ports.map(() => 0);
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((incoming) => {
    const index = turn++ % ports.length;
    connections[index] = (connections[index] ?? 0) + 1;
    const outgoing = connect(ports[index] ?? 0, "127.0.0.1");
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.once("error", () => to.destroy());
      from.once("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
