// The target of a playground, as the host sees it: a real cluster, simulated pods, or an existing cluster. All three implement one
// interface, so that everything after the start is the same.
import type { ClusterAddress } from "../deploy/connection.ts";

export type Mode = "cluster" | "simulated" | "existing";

export interface Target extends AsyncDisposable {
  readonly mode: Mode;
  /** How to reach the API server from this host. */
  readonly address: ClusterAddress;
  /** Namespace of the sample platform. */
  readonly namespace: string;
  /** Returns when the operator is ready. */
  installOperator(): Promise<void>;
  /** Makes the gateway of an instance reachable from this host; returns `http://127.0.0.1:port`. */
  openGateway(instance: string): Promise<string>;
  /** Resolves with the reason when the target fails. */
  readonly lost: Promise<string>;
  /** Kills it without a clean shutdown: what a second Ctrl-C requests. */
  kill(): void;
}
