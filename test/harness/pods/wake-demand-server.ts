// Serves the demand endpoint of every simulated gateway pod: one server on port 9903 of the private network, with
// constant demand for one engine. Pods are distinguished by the dialled address; some accept the request and never
// respond.
import { once } from "node:events";
import { createServer } from "node:http";
import { GATEWAY_PORTS } from "../../../src/gateway/ports.ts";
import { renderDemand } from "../../../src/wake-agent/demand.ts";
import { requirePodNetwork } from "./pod-network.ts";

export async function startDemandServer(
  engine: string,
  hangs: (address: string) => boolean = () => false,
): Promise<AsyncDisposable> {
  requirePodNetwork();
  const server = createServer(({ socket }, response) => {
    if (hangs(socket.localAddress ?? "")) return;
    const rows = [{ engine, stampMs: Date.now(), holds: 1, shed: 0 }];
    response.end(renderDemand({ rows, dropped: 0, apiErrors: { write: 0, watch: 0 } }));
  });
  server.listen(GATEWAY_PORTS.wakeDemand, "0.0.0.0");
  await once(server, "listening");
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
