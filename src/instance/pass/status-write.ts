// The one status write of a pass. It never overwrites a status that the pass did not start from, and is skipped when
// nothing changes.
import { isDeepStrictEqual } from "node:util";
import type { InstanceStatus } from "../../api/firebolt-instance/status.ts";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import { type Instance, identityOf } from "../model/children.ts";

export type StatusOutcome =
  | { readonly type: "written"; readonly instance: Instance }
  | { readonly type: "unchanged" }
  /** Another writer changed the status meanwhile: the result of this pass is discarded. */
  | { readonly type: "discarded" }
  | { readonly type: "gone" };

export async function writeStatus(
  cluster: Pick<InstanceCluster, "writeStatus" | "readInstance">,
  instance: Instance,
  next: InstanceStatus,
): Promise<StatusOutcome> {
  if (isDeepStrictEqual(instance.status, next)) return { type: "unchanged" };
  const outcome = await cluster.writeStatus(instance, next);
  if (outcome.type !== "conflict") return outcome;
  const fresh = await cluster.readInstance(identityOf(instance));
  if (fresh === undefined) return { type: "gone" };
  const isBase = fresh.metadata?.uid === instance.metadata?.uid && isDeepStrictEqual(fresh.status, instance.status);
  // If the spec changed meanwhile, its generation must not be reported as observed.
  if (!isBase || fresh.metadata?.generation !== instance.metadata?.generation) return { type: "discarded" };
  const second = await cluster.writeStatus(fresh, next);
  return second.type === "conflict" ? { type: "discarded" } : second;
}
