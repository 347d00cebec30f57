// Builds the status that a decision ends in. Keeps every field that the decision does not concern, and makes two invariants
// unbreakable: a draining generation only stands in draining and cleaning (I5), and there is one Ready by the ladder (I40).

import { findCondition, type Verdict, withVerdict } from "../../api/condition-list.ts";
import type { Condition } from "../../api/conditions.ts";
import type { EngineDecision, NextStatus } from "../decision.ts";
import { type EnginePhase, isAtRest } from "../phase.ts";
import type { EngineSnapshot, Generations } from "../snapshot.ts";
import { readyVerdict } from "./ready.ts";

export interface Advance {
  readonly phase: EnginePhase;
  readonly generations?: Partial<Generations>;
  readonly observedGeneration?: number;
  /** The instance gate's verdict; without one the stored condition stands. */
  readonly instanceReady?: Verdict;
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
  });
  const status = build(s, step.phase, generations, withVerdict(conditions, ready, contextOf(s)));
  return step.observedGeneration === undefined ? status : { ...status, observedGeneration: step.observedGeneration };
}

/** The stored status with other conditions: a closed gate changes nothing else (I37). */
export function judge(s: EngineSnapshot, phase: EnginePhase, verdicts: readonly Verdict[]): NextStatus {
  return build(s, phase, s.generations, judged(s, verdicts));
}

/** A resting phase whose counters disagree is a defect, never a result. */
export function restProblem(status: NextStatus): (EngineDecision & { readonly type: "broken" }) | undefined {
  const { phase, currentGeneration, activeGeneration } = status;
  if (!isAtRest(phase) || (activeGeneration >= 0 && currentGeneration === activeGeneration)) return undefined;
  const detail = `phase ${phase} with currentGeneration ${currentGeneration} and activeGeneration ${activeGeneration}`;
  return { type: "broken", row: "§1.13", detail };
}

function judged(s: EngineSnapshot, verdicts: readonly Verdict[]): readonly Readonly<Condition>[] {
  let conditions: readonly Readonly<Condition>[] = s.status?.conditions ?? [];
  for (const verdict of verdicts) conditions = withVerdict(conditions, verdict, contextOf(s));
  return conditions;
}

function build(
  s: EngineSnapshot,
  phase: EnginePhase,
  generations: Generations,
  conditions: readonly Readonly<Condition>[],
): NextStatus {
  const { drainingGeneration: _, ...kept } = s.status ?? {};
  const drains = phase === "draining" || phase === "cleaning";
  return {
    ...kept,
    phase,
    currentGeneration: generations.current,
    activeGeneration: generations.active,
    ...(drains && generations.draining !== undefined ? { drainingGeneration: generations.draining } : {}),
    conditions: conditions.map((condition) => ({ ...condition })),
  };
}

function contextOf(s: EngineSnapshot) {
  return { nowMs: s.nowMs, observedGeneration: s.engine.metadata?.generation ?? 0 };
}
