// The conditions of a status as a list: one entry per type; the transition time changes only with the status. Pure:
// verdicts and the time are arguments.

import type { ConditionReason } from "./reasons.ts";
import { CONDITION_MESSAGE_MAX_LENGTH, type Condition } from "./schema/condition.ts";
import { plainText } from "./values/plain-text.ts";

export interface Verdict<Type extends string = string, Reason extends string = ConditionReason> {
  readonly type: Type;
  readonly status: "True" | "False";
  readonly reason: Reason;
  readonly message: string;
}

/** When a verdict was reached, and for which generation of the spec. */
export interface VerdictContext {
  readonly nowMs: number;
  readonly observedGeneration: number;
}

type Conditions = readonly Readonly<Condition>[];

export function findCondition(conditions: Conditions | undefined, type: string): Readonly<Condition> | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** The list with this verdict: in place of the entry of its type, or at the end. */
export function withVerdict(
  conditions: Conditions | undefined,
  verdict: Verdict<string, string>,
  context: VerdictContext,
): Condition[] {
  const stored = findCondition(conditions, verdict.type);
  const entry: Condition = {
    type: verdict.type,
    status: verdict.status,
    reason: verdict.reason,
    message: plainText(verdict.message, CONDITION_MESSAGE_MAX_LENGTH),
    lastTransitionTime: stored?.status === verdict.status ? stored.lastTransitionTime : timeText(context.nowMs),
    observedGeneration: context.observedGeneration,
  };
  // Duplicates of a type, which another client may have written, are reduced to one.
  const list = (conditions ?? []).filter((condition) => condition.type !== verdict.type || condition === stored);
  return stored === undefined ? [...list, entry] : list.map((condition) => (condition === stored ? entry : condition));
}

/** RFC 3339 with whole seconds, as Kubernetes writes times. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
}
