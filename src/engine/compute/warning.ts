// Puts the StatefulSet's own warning (quota, missing ServiceAccount, admission) in place of a generic Ready reason
// (docs/design/engine.md#ready). Pure: observe lists the warnings.
import { findCondition } from "../../api/condition-list.ts";
import { CONDITION_REASON_MAX_LENGTH, CONDITION_REASON_PATTERN, type Condition } from "../../api/schema/condition.ts";
import { stableText } from "../../pods/stable-text.ts";
import { contentHash } from "../../podtemplate/content-hash.ts";
import type { EngineDecision } from "../model/decision.ts";
import type { EngineSnapshot, StatefulSetWarning } from "../model/snapshot.ts";

/**
 * Pods of a young StatefulSet appear one by one; listing its warnings at once would cost a request in every rollout.
 */
const GRACE_MS = 4_000;
/** Messages about quotas and policies are long. */
const MESSAGE_LIMIT = 1_000;
const LEGAL_REASON = new RegExp(CONDITION_REASON_PATTERN);

export interface StuckStatefulSet {
  readonly name: string;
  readonly uid: string;
}

/** The StatefulSet whose warnings may explain why Ready is False. */
export function warnedStatefulSet(decision: EngineDecision, s: EngineSnapshot): StuckStatefulSet | undefined {
  // A bump or an abandonment supersedes this StatefulSet: what hinders it no longer matters.
  if (decision.type !== "hold" && decision.type !== "move" && decision.type !== "clean") return undefined;
  const ready = findCondition(decision.status.conditions, "Ready");
  return ready?.reason === "Rolling" || ready?.reason === "PodsNotReady" ? stuckStatefulSet(s) : undefined;
}

export function withWarning(decision: EngineDecision, s: EngineSnapshot): EngineDecision {
  const warning = s.findings?.warning;
  const statefulSet = warnedStatefulSet(decision, s);
  if (warning === undefined || statefulSet === undefined || decision.type === "broken") return decision;
  const text = warningText(statefulSet.name, warning);
  const hash = contentHash(text);
  const { reported } = s.status ?? {};
  const count = shownCount(warning.count, reported?.warning === hash ? reported.warningCount : undefined);
  const shown = { reason: legalReason(warning), message: `${text}${count > 1 ? ` (x${count})` : ""}` };
  const conditions = (decision.status.conditions ?? []).map(
    (entry): Condition => (entry.type === "Ready" ? { ...entry, ...shown } : entry),
  );
  return {
    ...decision,
    status: { ...decision.status, conditions, reported: { warning: hash, warningCount: Math.max(1, count) } },
  };
}

/** Without the number of occurrences. */
export function warningText(statefulSet: string, { message }: Pick<StatefulSetWarning, "message">): string {
  return `StatefulSet ${statefulSet}: ${stableText(message, MESSAGE_LIMIT)}`;
}

function stuckStatefulSet({ current, pods, engine, nowMs }: EngineSnapshot): StuckStatefulSet | undefined {
  const { statefulSet } = current;
  if (statefulSet.type !== "live" && statefulSet.type !== "terminating") return undefined;
  if (pods.total >= (engine.spec?.replicas ?? 0)) return undefined;
  const { metadata, status } = statefulSet.object;
  const { name, uid, generation = 0, creationTimestamp = "" } = metadata ?? {};
  // A StatefulSet that its controller has not observed yet has no warnings, however long that takes.
  if (name === undefined || uid === undefined || (status?.observedGeneration ?? -1) < generation) return undefined;
  const ageMs = nowMs - Date.parse(creationTimestamp);
  // A clock that disagrees with the API server's must not hide the reason: then list them.
  return ageMs >= 0 && ageMs < GRACE_MS ? undefined : { name, uid };
}

function legalReason({ reason }: StatefulSetWarning): string {
  return reason.length <= CONDITION_REASON_MAX_LENGTH && LEGAL_REASON.test(reason) ? reason : "StatefulSetWarning";
}

/** The stored count stays until it has doubled: every other one would be a status write without news. */
function shownCount(count: number, known = Number.NaN): number {
  return count >= known && count < 2 * known ? known : count;
}
