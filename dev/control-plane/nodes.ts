// Simulated nodes for a control plane that runs kwok. Their pods are ready as soon as they are scheduled.
import { setTimeout as sleep } from "node:timers/promises";
import { openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";

const POLL_MS = 50;
const READY_DEADLINE_MS = 120_000;

export interface NodeOptions {
  readonly count: number;
  /** Nodes are named `<prefix>-0`, `<prefix>-1`, … Default `node`. */
  readonly prefix?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Adds simulated nodes and waits until pods can be scheduled on them; returns their names. */
export async function addNodes(adminKubeconfig: string, options: NodeOptions): Promise<readonly string[]> {
  const names = Array.from({ length: options.count }, (_, index) => `${options.prefix ?? "node"}-${index}`);
  const api = openApiFromKubeconfig(adminKubeconfig);
  try {
    for (const name of names)
      await api.expect({ method: "POST", path: "/api/v1/nodes", body: renderNode(name, options.labels) });
    const deadline = AbortSignal.timeout(READY_DEADLINE_MS);
    for (const name of names) {
      while (!isSchedulable((await api.expect({ path: `/api/v1/nodes/${name}` })).body)) {
        if (deadline.aborted) throw new Error(`node ${name} was not ready after ${READY_DEADLINE_MS / 1000} s`);
        await sleep(POLL_MS);
      }
    }
    return names;
  } finally {
    api.close();
  }
}

function renderNode(name: string, labels: Readonly<Record<string, string>> = {}) {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", ...labels },
    },
  };
}

/** Ready, and the controller manager has observed it and removed the taints. */
export function isSchedulable(node: unknown): boolean {
  const conditions = valueAt(node, ["status", "conditions"]);
  const taints = valueAt(node, ["spec", "taints"]);
  const isReady = (condition: unknown) =>
    valueAt(condition, ["type"]) === "Ready" && valueAt(condition, ["status"]) === "True";
  return Array.isArray(conditions) && conditions.some(isReady) && !(Array.isArray(taints) && taints.length > 0);
}
