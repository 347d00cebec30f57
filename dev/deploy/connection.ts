// A connection to one cluster for everything in this folder: the operator's own client, with a kubeconfig that may name
// several clusters. Opens no connection on its own.
import { homedir } from "node:os";
import { systemClock } from "@firebolt-operator/kube";
import { createKubeClient, loadKubeconfig } from "@firebolt-operator/kube/client";
import type { Cluster } from "../../src/plugin/cluster/cluster.ts";

const CALL_MS = 15_000;

/** Which cluster. */
export interface ClusterAddress {
  /** Path of a kubeconfig; undefined means what kubectl would use. */
  readonly kubeconfig?: string | undefined;
  /** A context of it; undefined means its current one. */
  readonly context?: string | undefined;
}

export type Connection = Cluster;

export interface ConnectOptions extends ClusterAddress {
  readonly namespace?: string;
  readonly signal?: AbortSignal | undefined;
}

/** To be disposed of: `using cluster = await connect(…)`. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const config = await loadKubeconfig({
    path: options.kubeconfig,
    context: options.context,
    env: process.env,
    homeDir: homedir(),
  });
  const client = createKubeClient({ config, userAgent: "firebolt-playground" });
  return {
    client,
    config,
    namespace: options.namespace ?? "default",
    clusterArgs: [],
    call: { signal: options.signal ?? new AbortController().signal, timeoutMs: CALL_MS },
    clock: systemClock,
    [Symbol.dispose]: () => client.close(),
  };
}
