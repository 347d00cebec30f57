// The one status write of a pass. A status is never written over one that the pass did not start from, and never
// when nothing but its own time stamp would change.
import { isDeepStrictEqual } from "node:util";
import { timeText } from "../../api/condition-list.ts";
import type { EngineStatus } from "../../api/firebolt-engine/status.ts";
import type { EngineCluster } from "../cluster/engine-cluster.ts";
import type { Engine } from "../model/children.ts";
import { identityOf } from "../model/stored-state.ts";

export type StatusOutcome =
  | { readonly type: "written"; readonly engine: Engine }
  | { readonly type: "unchanged" }
  /** Another writer stored a status meanwhile: the decision of this pass is void. */
  | { readonly type: "discarded" }
  | { readonly type: "gone" };

export async function writeStatus(
  cluster: Pick<EngineCluster, "writeStatus" | "readEngine">,
  engine: Engine,
  next: EngineStatus,
  nowMs: number,
): Promise<StatusOutcome> {
  if (isSameStatus(engine.status, next)) return { type: "unchanged" };
  const stamped = { ...next, lastReconciled: timeText(nowMs) };
  const result = await cluster.writeStatus(engine, stamped);
  if (result.type !== "conflict") return result;
  const fresh = await cluster.readEngine(identityOf(engine));
  if (fresh === undefined) return { type: "gone" };
  const isBase = fresh.metadata?.uid === engine.metadata?.uid && isDeepStrictEqual(fresh.status, engine.status);
  if (!isBase) return { type: "discarded" };
  const second = await cluster.writeStatus(fresh, stamped);
  return second.type === "conflict" ? { type: "discarded" } : second;
}

function isSameStatus(stored: Engine["status"], next: EngineStatus): boolean {
  const { lastReconciled: _, ...before } = stored ?? {};
  const { lastReconciled: __, ...after } = next;
  return isDeepStrictEqual(before, after);
}
