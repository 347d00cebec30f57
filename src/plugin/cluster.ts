// The cluster that a command talks to: client, namespace and the limits of every call. Opens no connection by itself.
import {
  type CallOptions,
  type ClusterConfig,
  createKubeClient,
  type KubeClient,
} from "@firebolt-operator/kube/client";
import { VERSION } from "../command-line/version.ts";
import type { FlagValues } from "./flags.ts";
import { openKubeconfig } from "./open-kubeconfig.ts";
import { reachOf } from "./own-command.ts";

export interface Cluster extends Disposable {
  readonly client: KubeClient;
  readonly config: ClusterConfig;
  /** Of `-n`, else of the context, else `default`. */
  readonly namespace: string;
  /** How the command line names the cluster, for commands that messages name. */
  readonly reach: readonly string[];
  /** For every call: its deadline, and the end of the program. */
  readonly call: Required<CallOptions>;
}

/** Node's timers take no more; nobody waits three weeks for an answer. */
const NO_LIMIT_MS = 2 ** 31 - 1;
export const USER_AGENT = `kubectl-firebolt/${VERSION}`;

export interface ConnectOptions {
  readonly flags: FlagValues;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export async function connect({ flags, env, signal }: ConnectOptions): Promise<Cluster> {
  const config = await openKubeconfig({ path: flags.text("kubeconfig"), context: flags.text("context"), env });
  const client = createKubeClient({ config, userAgent: USER_AGENT });
  return {
    client,
    config,
    namespace: flags.text("namespace") || config.namespace || "default",
    reach: reachOf(flags),
    call: { signal, timeoutMs: flags.durationMs("request-timeout") || NO_LIMIT_MS },
    [Symbol.dispose]: () => client.close(),
  };
}
