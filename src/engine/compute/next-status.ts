// Builds the status that a decision ends in. Keeps every field that the decision does not concern, and makes two
// invariants unbreakable: a draining generation only stands in draining and cleaning, and there is one Ready by the
// ladder.

import { findCondition, timeText, type Verdict, withVerdict } from "../../api/condition-list.ts";
import type { HeldRollout } from "../../api/firebolt-engine/status.ts";
import type { Condition } from "../../api/schema/condition.ts";
import { contentHash } from "../../podtemplate/content-hash.ts";
import type { EngineDecision, NextStatus, Refusal } from "../model/decision.ts";
import { type EnginePhase, isAtRest } from "../model/phase.ts";
import { withoutShown } from "../model/shown-state.ts";
import type { EngineSnapshot, Generations } from "../model/snapshot.ts";
import { readyBeforeFailure } from "./failure-suffix.ts";
import { type ReadyInput, type ReadyVerdict, readyVerdict } from "./ready.ts";

export interface Advance {
  readonly phase: EnginePhase;
  readonly generations?: Partial<Generations>;
  readonly observedGeneration?: number;
  /** In draining: queries are routed away from the draining generation only now. */
  readonly switched?: true;
  /** In draining: a check found running queries or failed. */
  readonly drainChecked?: true;
  /** What the newest generation was rendered from, and whether the next one waits. */
  readonly rollout?: RolloutRecord;
  /** The instance gate's verdict; without one the stored condition stands. */
  readonly instanceReady?: Verdict;
}

export interface RolloutRecord {
  readonly rolloutHash?: string;
  readonly heldRollout: HeldRollout | undefined;
}

/** The status after a step, with Ready by the ladder. */
export function advance(s: EngineSnapshot, step: Advance): NextStatus {
  const generations = { ...s.generations, ...step.generations };
  const conditions = judged(s, step.instanceReady === undefined ? [] : [step.instanceReady]);
  const ready = readyVerdict({
    phase: step.phase,
    generations,
    instanceReady: findCondition(conditions, "InstanceReady"),
    pods: s.pods,
    routing: s.routing,
    drainProbe: s.drainProbe,
    before: s.phase === step.phase ? shownBefore(s) : undefined,
    settledAt: settledAt(s, { ...step, generations }),
    startsAnew: generations.current !== s.generations.current,
  });
  const built = build(s, { ...step, generations }, withVerdict(conditions, ready, contextOf(s)));
  const status = { ...built, ...recordsOf(ready) };
  return step.observedGeneration === undefined ? status : { ...status, observedGeneration: step.observedGeneration };
}

function shownBefore({ status }: EngineSnapshot): ReadyInput["before"] {
  const ready = readyBeforeFailure(status);
  return ready && { ready, isForbidden: status?.drainCheckForbidden === true };
}

/** What later passes read back: the event of a cause is recorded once, whatever pod it is found on. */
function recordsOf({ trouble, isForbidden }: ReadyVerdict): Pick<NextStatus, "reported" | "drainCheckForbidden"> {
  return {
    ...(trouble === undefined ? {} : { reported: { podFailure: contentHash(trouble.cause) } }),
    ...(isForbidden === true ? { drainCheckForbidden: true } : {}),
  };
}

/** The stored status with other conditions: a closed gate changes nothing else. */
export function withVerdicts(s: EngineSnapshot, phase: EnginePhase, verdicts: readonly Verdict[]): NextStatus {
  return build(s, { phase, generations: s.generations }, judged(s, verdicts));
}

/** With what the next pass needs to know whether the same refusal has been reported. */
export function refused(status: NextStatus, { reason, message, event }: Refusal): NextStatus {
  return event === undefined ? status : { ...status, reported: { refusal: contentHash(`${reason}: ${message}`) } };
}

/** A resting phase whose counters disagree is a defect, never a result. */
export function restProblem(status: NextStatus): (EngineDecision & { readonly type: "broken" }) | undefined {
  const { phase, currentGeneration, activeGeneration } = status;
  if (!isAtRest(phase) || (activeGeneration >= 0 && currentGeneration === activeGeneration)) return undefined;
  const detail = `phase ${phase} with currentGeneration ${currentGeneration} and activeGeneration ${activeGeneration}`;
  return { type: "broken", step: "contradiction", detail };
}

function judged(s: EngineSnapshot, verdicts: readonly Verdict[]): readonly Readonly<Condition>[] {
  let conditions: readonly Readonly<Condition>[] = s.status?.conditions ?? [];
  for (const verdict of verdicts) conditions = withVerdict(conditions, verdict, contextOf(s));
  return conditions;
}

type Step = Pick<Advance, "phase" | "switched" | "drainChecked" | "rollout"> & { readonly generations: Generations };

function build(s: EngineSnapshot, step: Step, conditions: readonly Readonly<Condition>[]): NextStatus {
  const {
    drainingGeneration: _,
    drainingSince: __,
    drainChecked: ___,
    highestGeneration: ____,
    heldRollout,
    ...kept
  } = withoutShown(s.status);
  const { phase, generations } = step;
  const rollout: RolloutRecord = step.rollout ?? { heldRollout };
  const { current, active, draining, highest } = generations;
  const drains = (phase === "draining" || phase === "cleaning") && draining !== undefined;
  return {
    ...kept,
    phase,
    currentGeneration: current,
    activeGeneration: active,
    ...(drains ? { drainingGeneration: draining } : {}),
    ...(drains && phase === "draining" ? { drainingSince: drainingSince(s, step), ...drainChecked(s, step) } : {}),
    ...(highest > current ? { highestGeneration: highest } : {}),
    ...(rollout.rolloutHash === undefined ? {} : { rolloutHash: rollout.rolloutHash }),
    ...(rollout.heldRollout === undefined ? {} : { heldRollout: { ...rollout.heldRollout } }),
    conditions: conditions.map((condition) => ({ ...condition })),
  };
}

/** Stays for as long as the same generation drains: its drain is reported once. */
function drainChecked(s: EngineSnapshot, step: Step): Pick<NextStatus, "drainChecked"> {
  const isSame = s.phase === "draining" && s.generations.draining === step.generations.draining;
  const isChecked = step.drainChecked === true || (isSame && s.status?.drainChecked === true);
  return isChecked ? { drainChecked: true } : {};
}

/**
 * Rounded up to the second, so that the time it starts is never shorter than promised. An unknown moment is now, and so
 * is a future one.
 */
function drainingSince(s: EngineSnapshot, { switched, generations: { draining } }: Step): string {
  const now = timeText(Math.ceil(s.nowMs / 1_000) * 1_000);
  const stored = s.phase === "draining" && s.generations.draining === draining ? s.status?.drainingSince : undefined;
  const isUsable = stored !== undefined && Date.parse(stored) <= Date.parse(now);
  return switched !== true && isUsable ? stored : now;
}

/** Undefined when the time is over, or there is none. */
function settledAt(s: EngineSnapshot, step: Step): string | undefined {
  const { required, settleMs } = s.drain;
  // A generation without pods has nothing to be kept for.
  const isKept = s.drainProbe.type === "settling" || (step.switched === true && s.pods.total > 0);
  if (step.phase !== "draining" || !required || settleMs === 0 || !isKept) return undefined;
  return timeText(Date.parse(drainingSince(s, step)) + settleMs);
}

function contextOf(s: EngineSnapshot) {
  return { nowMs: s.nowMs, observedGeneration: s.engine.metadata?.generation ?? 0 };
}
