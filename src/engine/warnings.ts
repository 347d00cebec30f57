// Puts the StatefulSet's own complaint (quota, missing ServiceAccount, admission) in place of a generic Ready reason
// (docs/design/engine.md#ready). Best effort: a failed look-up is logged and changes nothing.

import type { Logger } from "@firebolt-operator/kube";
import { findCondition } from "../api/condition-list.ts";
import { CONDITION_REASON_MAX_LENGTH, CONDITION_REASON_PATTERN, type Condition } from "../api/conditions.ts";
import { stableText } from "../pods/stable-text.ts";
import { withoutFailure } from "./compute/failure-suffix.ts";
import type { EngineDecision } from "./decision.ts";
import type { EngineSnapshot } from "./snapshot.ts";
import type { EngineWorld, StatefulSetWarning } from "./world.ts";

/** Pods of a young StatefulSet appear one by one; asking about the rest at once would cost a request in every rollout. */
const GRACE_MS = 4_000;
/** Quotas and policies are named at length. */
const MESSAGE_LIMIT = 1_000;
const LEGAL_REASON = new RegExp(CONDITION_REASON_PATTERN);

export async function decorateReady(
  decision: EngineDecision,
  snapshot: EngineSnapshot,
  io: { readonly world: EngineWorld; readonly logger: Logger },
): Promise<EngineDecision> {
  // A bump or an abandonment leaves this StatefulSet behind: what hinders it no longer matters.
  if (decision.type !== "hold" && decision.type !== "move" && decision.type !== "clean") return decision;
  const ready = findCondition(decision.status.conditions, "Ready");
  const statefulSet = stuckStatefulSet(snapshot);
  if (statefulSet === undefined || (ready?.reason !== "Rolling" && ready?.reason !== "PodsNotReady")) return decision;
  const warning = await newestWarning(io, snapshot.identity.namespace, statefulSet);
  if (warning === undefined) return decision;
  const before = findCondition(snapshot.status?.conditions, "Ready")?.message ?? "";
  const decorated = { ...ready, ...conditionTexts(statefulSet.name, warning, before) };
  const conditions = (decision.status.conditions ?? []).map(
    (entry): Condition => (entry === ready ? decorated : entry),
  );
  return { ...decision, status: { ...decision.status, conditions } };
}

interface StuckStatefulSet {
  readonly name: string;
  readonly uid: string;
}

function stuckStatefulSet({ current, pods, engine, nowMs }: EngineSnapshot): StuckStatefulSet | undefined {
  const { statefulSet } = current;
  if (statefulSet.type !== "live" && statefulSet.type !== "terminating") return undefined;
  if (pods.total >= (engine.spec?.replicas ?? 0)) return undefined;
  const { metadata, status } = statefulSet.object;
  const { name, uid, generation = 0, creationTimestamp = "" } = metadata ?? {};
  // A set that its controller has not come to yet has nothing to complain about, however long that takes.
  if (name === undefined || uid === undefined || (status?.observedGeneration ?? -1) < generation) return undefined;
  const ageMs = nowMs - Date.parse(creationTimestamp);
  // A clock that disagrees with the API server's must not hide the reason: then ask.
  return ageMs >= 0 && ageMs < GRACE_MS ? undefined : { name, uid };
}

async function newestWarning(
  { world, logger }: { readonly world: EngineWorld; readonly logger: Logger },
  namespace: string,
  { name, uid }: StuckStatefulSet,
): Promise<StatefulSetWarning | undefined> {
  try {
    const warnings = (await world.listWarnings(namespace, uid)).filter(({ message }) => message.trim() !== "");
    return warnings.toSorted((a, b) => b.lastSeenMs - a.lastSeenMs)[0];
  } catch (error) {
    if (world.signal.aborted) throw error;
    logger.error("warnings of the StatefulSet could not be listed", error, { statefulSet: name });
    return undefined;
  }
}

function conditionTexts(
  name: string,
  { reason, message, count }: StatefulSetWarning,
  before: string,
): Pick<Condition, "reason" | "message"> {
  const legal = reason.length <= CONDITION_REASON_MAX_LENGTH && LEGAL_REASON.test(reason);
  const text = `StatefulSet ${name}: ${stableText(message, MESSAGE_LIMIT)}`;
  const shown = shownCount(text, withoutFailure(before), count);
  return {
    reason: legal ? reason : "StatefulSetWarning",
    message: `${text}${shown > 1 ? ` (x${shown})` : ""}`,
  };
}

/** The count that the condition has until it has doubled: every other one would be a status write that says nothing new. */
function shownCount(text: string, before: string, count: number): number {
  const told = before.startsWith(text) ? /^ \(x(\d+)\)$/.exec(before.slice(text.length))?.[1] : undefined;
  const known = before === text ? 1 : Number(told ?? Number.NaN);
  return count >= known && count < 2 * known ? known : count;
}
