// Serves the query port of every simulated pod: one server on port 3473 of the private network. Pods are distinguished
// by the dialled address; connections to deleted or unready pods are reset, as in a real network.
import { once } from "node:events";
import { createServer } from "node:http";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import { requirePodNetwork } from "../../harness/pods/pod-network.ts";

export interface SimulatedEngines extends AsyncDisposable {
  /** Queries served so far, per pod address. */
  readonly answered: ReadonlyMap<string, number>;
}

const PORT = ENGINE_CONTRACT.ports.query;
const ANSWER = JSON.stringify({ data: [[42]], rows: 1 });

/** `isAlive` returns whether a pod with this address runs now. */
export async function startSimulatedEngines(isAlive: (address: string) => boolean): Promise<SimulatedEngines> {
  requirePodNetwork();
  const answered = new Map<string, number>();
  const server = createServer((request, response) => {
    const address = request.socket.localAddress ?? "";
    request.resume();
    request.once("end", () => {
      if (request.url?.startsWith(ENGINE_CONTRACT.endpoints.ready) === true) {
        response.end("ok\n");
        return;
      }
      answered.set(address, (answered.get(address) ?? 0) + 1);
      response.writeHead(200, { "content-type": "application/json" }).end(ANSWER);
    });
  });
  server.on("connection", (socket) => {
    if (!isAlive(socket.localAddress ?? "")) socket.resetAndDestroy();
  });
  server.listen({ port: PORT, host: "0.0.0.0", backlog: 4_096 });
  await once(server, "listening");
  return {
    answered,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
