// The cluster of a command: client, namespace and limits of every call. Opens no connection by itself.
import { type Clock, systemClock } from "@firebolt-operator/kube";
import {
  type CallOptions,
  type ClusterConfig,
  createKubeClient,
  type KubeClient,
} from "@firebolt-operator/kube/client";
import { VERSION } from "../../command-line/version.ts";
import type { FlagValues } from "../command-line/flags.ts";
import { clusterArgsOf } from "../own-command.ts";
import { openKubeconfig } from "./open-kubeconfig.ts";

export interface Cluster extends Disposable {
  readonly client: KubeClient;
  readonly config: ClusterConfig;
  /** Of `-n`, else of the context, else `default`. */
  readonly namespace: string;
  /** Flags with which the command line selects the cluster, for commands in messages. */
  readonly clusterArgs: readonly string[];
  /** For every call: its timeout, and the signal that ends the program. */
  readonly call: Required<CallOptions>;
  readonly clock: Clock;
}

/** The longest delay of a Node timer: three weeks. */
const NO_LIMIT_MS = 2 ** 31 - 1;
export const USER_AGENT = `kubectl-firebolt/${VERSION}`;

export interface ConnectOptions {
  readonly flags: FlagValues;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

export async function connect({ flags, env, signal, clock = systemClock }: ConnectOptions): Promise<Cluster> {
  const config = await openKubeconfig({ path: flags.text("kubeconfig"), context: flags.text("context"), env });
  const client = createKubeClient({ config, userAgent: USER_AGENT });
  return {
    client,
    config,
    namespace: flags.text("namespace") || config.namespace || "default",
    clusterArgs: clusterArgsOf(flags),
    call: { signal, timeoutMs: flags.durationMs("request-timeout") || NO_LIMIT_MS },
    clock,
    [Symbol.dispose]: () => client.close(),
  };
}
