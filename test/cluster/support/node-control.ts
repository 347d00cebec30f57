// Faults of the node and the control plane on request of tests: the cluster belongs to vitest's main process, the tests
// run in another, and they communicate over a Unix socket. One request is one fault, with a response once the cluster
// has recovered.
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { LocalCluster } from "../../../dev/cluster/local-cluster.ts";

const FAULTS = [
  "restart-kubelet",
  "stop-api-server",
  "start-api-server",
  "restart-etcd",
  "cache-names",
  "cache-no-names",
] as const;
export type Fault = (typeof FAULTS)[number];

const DEADLINE_MS = 120_000;
/** Of the Corefile in Kubernetes' add-on manifest. */
export const NAME_CACHE_SECONDS = 30;

type Faulty = Pick<
  LocalCluster,
  "restartKubelet" | "stopApiServer" | "startApiServer" | "restartEtcd" | "restartNameServer"
>;

export async function serveNodeControl(cluster: Faulty, socket: string): Promise<Server> {
  const actions: Readonly<Record<Fault, () => Promise<unknown>>> = {
    "restart-kubelet": () => cluster.restartKubelet(),
    "stop-api-server": () => cluster.stopApiServer(),
    "start-api-server": () => cluster.startApiServer(),
    "restart-etcd": () => cluster.restartEtcd(),
    "cache-names": () => cluster.restartNameServer(NAME_CACHE_SECONDS),
    "cache-no-names": () => cluster.restartNameServer(0),
  };
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    const fault = FAULTS.find((known) => incoming.url === `/${known}`);
    if (fault === undefined) {
      outgoing.writeHead(404).end(`one of ${FAULTS.join(", ")}`);
      return;
    }
    actions[fault]().then(
      () => outgoing.writeHead(200).end(),
      (error: unknown) => outgoing.writeHead(500).end(String(error)),
    );
  });
  server.listen(socket);
  await once(server, "listening");
  return server;
}

/** Causes the fault; fails with the cluster's error. */
export async function causeFault(socket: string, fault: Fault): Promise<void> {
  const outgoing = request({
    socketPath: socket,
    path: `/${fault}`,
    method: "POST",
    agent: false,
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  outgoing.end();
  const [incoming] = await once(outgoing, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  if (incoming.statusCode !== 200) throw new Error(`${fault}: ${Buffer.concat(chunks).toString()}`);
}
