// Stores the status that a pass computed, after its writes. A write that failed is what matters: a status that cannot
// be stored either does not hide it.
import type { Logger } from "@firebolt-operator/kube";
import type { InstanceStatus } from "../../api/firebolt-instance/status.ts";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import type { FailedWritesDecision } from "../compute/compute-failed-writes.ts";
import type { Instance } from "../model/children.ts";
import { isNotLeader, isRejection } from "../model/rejection.ts";
import type { WriteFailure } from "./apply.ts";
import { type StatusOutcome, writeStatus } from "./status-write.ts";

export type Applied =
  | { readonly type: "done"; readonly status: StatusOutcome }
  | { readonly type: "stale" }
  | { readonly type: "early" }
  /** The API server rejects objects: the status shows them, and they are tried again after `recheckMs`. */
  | {
      readonly type: "rejected";
      readonly errors: readonly unknown[];
      readonly status: StatusOutcome;
      readonly recheckMs: number;
    }
  /** Any other failure, from the network to a status that cannot be stored. */
  | { readonly type: "failed"; readonly error: unknown; readonly status: StatusOutcome };

interface StatusDeps {
  readonly cluster: InstanceCluster;
  readonly logger: Logger;
}

export async function applyFailedWrites(
  instance: Instance,
  failures: readonly WriteFailure[],
  { status: next, recheckMs }: FailedWritesDecision,
  deps: StatusDeps,
): Promise<Applied> {
  const errors = failures.map(({ error }) => error);
  const fatal = errors.find((error) => !isRejection(error));
  const status = await tryWriteStatus(instance, next, deps);
  if (fatal !== undefined || status === undefined)
    return { type: "failed", error: fatal ?? errors[0], status: status ?? { type: "unchanged" } };
  return { type: "rejected", errors, status, recheckMs };
}

/** Undefined when the status could not be stored. */
export async function tryWriteStatus(
  instance: Instance,
  status: InstanceStatus,
  { cluster, logger }: StatusDeps,
): Promise<StatusOutcome | undefined> {
  try {
    return await writeStatus(cluster, instance, status);
  } catch (error) {
    if (cluster.signal.aborted || isNotLeader(error)) throw error;
    logger.error("status not written", error);
    return undefined;
  }
}
