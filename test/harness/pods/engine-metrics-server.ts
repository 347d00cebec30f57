// Serves the metrics endpoint of every simulated pod: one server on the metrics port of the private network, which
// distinguishes pods by the dialled address. A pod is idle by default.
import { once } from "node:events";
import { createServer } from "node:http";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import { requirePodNetwork } from "./pod-network.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

export type MetricsAnswer =
  | { readonly running?: number; readonly suspended?: number }
  | { readonly body: string }
  | { readonly status: number }
  /** So many bytes of comments, and then two zeros. */
  | { readonly bytes: number }
  /** The connection is closed without a response. */
  | "broken";

export interface MetricsServer extends AsyncDisposable {
  /** Addresses are reused: `undefined` means that the pod has been deleted. */
  answer(podIP: string, answer: () => MetricsAnswer | undefined): void;
  /** How often this address has been scraped. */
  asked(podIP: string): number;
}

const PORT = ENGINE_CONTRACT.ports.metrics;
const pageOf = (running: number, suspended: number): string =>
  `# TYPE ${GAUGE.running} gauge\n${GAUGE.running} ${running}\n${GAUGE.suspended} ${suspended}\n`;

export async function startMetricsServer(): Promise<MetricsServer> {
  requirePodNetwork();
  const answers = new Map<string, () => MetricsAnswer | undefined>();
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    const address = request.socket.localAddress ?? "";
    asked.set(address, (asked.get(address) ?? 0) + 1);
    const answer = answers.get(address)?.() ?? {};
    if (answer === "broken") request.socket.destroy();
    else if ("status" in answer) response.writeHead(answer.status).end("no metrics here\n");
    else if ("body" in answer) response.end(answer.body);
    else if ("bytes" in answer) response.end(`${`# ${"x".repeat(97)}\n`.repeat(answer.bytes / 100)}${pageOf(0, 0)}`);
    else response.end(pageOf(answer.running ?? 0, answer.suspended ?? 0));
  });
  server.listen(PORT, "0.0.0.0");
  await once(server, "listening");
  return {
    answer: (podIP, answer) => answers.set(podIP, answer),
    asked: (podIP) => asked.get(podIP) ?? 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
