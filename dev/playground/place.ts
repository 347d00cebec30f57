// Where a playground's platform lives, seen from the host: three kinds of it (a real cluster, simulated pods, somebody's own cluster) with
// one face, so that everything after the start is the same for all of them.
import type { ClusterAddress } from "../platform/connection.ts";

export type Mode = "cluster" | "simulated" | "existing";

export interface Place extends AsyncDisposable {
  readonly mode: Mode;
  /** How anybody on this host reaches the API server. */
  readonly address: ClusterAddress;
  /** Where the sample platform goes. */
  readonly namespace: string;
  /** Returns when the operator works. */
  installOperator(): Promise<void>;
  /** Makes the gateway of an instance reachable from this host; answers `http://127.0.0.1:port`. */
  openGateway(instance: string): Promise<string>;
  /** Settles when the place is lost by itself, with the reason. */
  readonly lost: Promise<string>;
  /** Ends it at once, without order: what a second Ctrl-C asks for. */
  kill(): void;
}
