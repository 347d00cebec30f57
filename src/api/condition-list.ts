// A status's list of conditions: one entry per type, the transition time moved only when the status flips. Reaches no verdict
// of its own and reads no clock.
import { CONDITION_MESSAGE_MAX_LENGTH, type Condition } from "./conditions.ts";
import { plainText } from "./plain-text.ts";

export interface Verdict<Type extends string = string> {
  readonly type: Type;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** When a verdict was reached, and about which version of the spec. */
export interface VerdictContext {
  readonly nowMs: number;
  readonly observedGeneration: number;
}

type Conditions = readonly Readonly<Condition>[];

export function findCondition(conditions: Conditions | undefined, type: string): Readonly<Condition> | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** The list with this verdict in it: in place when the type is there already, else at the end. */
export function withVerdict(
  conditions: Conditions | undefined,
  verdict: Verdict,
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
  // A type that somehow stands there twice is reduced to one.
  const list = (conditions ?? []).filter((condition) => condition.type !== verdict.type || condition === stored);
  return stored === undefined ? [...list, entry] : list.map((condition) => (condition === stored ? entry : condition));
}

/** RFC 3339 with whole seconds, as Kubernetes writes its own times. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
}
