// What `kubectl logs` and `kubectl port-forward` find behind simulated pods: the logs and the ports of the processes that stand for them. One
// stand-in engine serves all engines, so all of them have its log.
import { appendFileSync, closeSync, mkdirSync, openSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { findFreePorts, startProcess, type Workspace } from "@firebolt-operator/kube/testing";
import { ENGINE_CONTAINER, HEALTH_PORT, METRICS_PORT, QUERY_PORT } from "../../../src/engine/model/pod-contract.ts";
import { GATEWAY_PORTS } from "../../../src/gateway/ports.ts";
import { WAKE_AGENT_CONTAINER } from "../../../src/gateway/wake-container.ts";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import { announceKubelet, isListening, logLine, prepareKubelet } from "../../control-plane/kwok-kubelet.ts";

const READY_MS = 60_000;
const FOLLOW_MS = 200;
const CHUNK_BYTES = 65_536;

/** Containers whose work a process does, by the name of its log in the workspace. */
const PROCESSES: Readonly<Record<string, string>> = {
  [ENGINE_CONTAINER]: "engine",
  [WAKE_AGENT_CONTAINER]: "wake-agent",
  envoy: "envoy",
  manager: "operator",
};
/** No process runs for these: stand-in engines do not need them. */
const IDLE = ["metadata", "postgresql"];

export interface SimulatedKubeletOptions {
  readonly workspace: Workspace;
  readonly plane: ControlPlane;
  readonly nodes: readonly string[];
  /** Where Envoy will take queries. */
  readonly gatewayPort: number;
}

/** The server exits with the workspace; disposing stops copying logs. */
export async function startKubelet(options: SimulatedKubeletOptions): Promise<Disposable> {
  const { workspace, plane, nodes, gatewayPort } = options;
  const folder = join(workspace.folder, "containers");
  mkdirSync(folder);
  const logOf = (container: string): string => join(folder, `${container}.log`);
  const containers = [...Object.keys(PROCESSES), ...IDLE];
  for (const name of containers) writeFileSync(logOf(name), "");
  for (const name of IDLE)
    appendFileSync(logOf(name), logLine(Date.now(), "simulated: nothing runs in this container"));
  const [port = 0] = await findFreePorts(1);
  const same = (one: number) => ({ from: one, to: one });
  const program = await prepareKubelet(plane, {
    folder,
    port,
    namespaces: [],
    logs: Object.fromEntries(containers.map((name) => [name, logOf(name)])),
    forwards: [{ from: GATEWAY_PORTS.client, to: gatewayPort }, ...[QUERY_PORT, HEALTH_PORT, METRICS_PORT].map(same)],
  });
  const kubelet = startProcess(workspace, { name: "kubelet", ...program });
  await kubelet.waitUntilReady(() => isListening(port), READY_MS);
  await announceKubelet(plane.adminKubeconfig, nodes, port);
  const followed = Object.entries(PROCESSES).map(([container, name]) =>
    follow(join(workspace.folder, "logs", `${name}.log`), logOf(container)),
  );
  const timer = setInterval(() => {
    for (const copy of followed) copy();
  }, FOLLOW_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Copies whole lines that were added since the last call, as a container runtime would write them. */
export function follow(from: string, to: string): () => void {
  const decoder = new StringDecoder("utf8");
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let [position, rest] = [0, ""];
  return () => {
    const file = openIfThere(from);
    if (file === undefined) return;
    try {
      for (let read = CHUNK_BYTES; read === CHUNK_BYTES; ) {
        read = readSync(file, buffer, 0, CHUNK_BYTES, position);
        position += read;
        const lines = `${rest}${decoder.write(buffer.subarray(0, read))}`.split("\n");
        rest = lines.pop() ?? "";
        if (lines.length > 0) appendFileSync(to, lines.map((line) => logLine(Date.now(), line)).join(""));
      }
    } finally {
      closeSync(file);
    }
  };
}

/** A process writes its log when it is started. */
function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
