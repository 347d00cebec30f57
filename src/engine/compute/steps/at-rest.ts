// `stable` and `stopped`: verify the running generation, repair what is missing around it, and write the intent of a
// new generation when it no longer matches. Never creates or changes a StatefulSet.
import { findCondition } from "../../../api/condition-list.ts";
import { type Cause, type EngineDecision, type NextStatus, RECHECK_MS } from "../../model/decision.ts";
import { restPhase } from "../../model/phase.ts";
import type { EngineSnapshot } from "../../model/snapshot.ts";
import { type RenderedGeneration, renderGeneration } from "../../render/generation.ts";
import { type Damping, dampRollout, rolloutAtRest } from "../damping.ts";
import type { OpenGate } from "../gates.ts";
import { mismatch } from "../mismatch.ts";
import { advance } from "../next-status.ts";
import { restoreMissing, routingRepair } from "../repair.ts";

export function computeAtRest(s: EngineSnapshot, gate: OpenGate): EngineDecision {
  const { current, active } = s.generations;
  if (active < 0 || current !== active)
    return {
      type: "broken",
      step: "contradiction-at-rest",
      detail: `at rest with currentGeneration ${current} and activeGeneration ${active}`,
    };
  const { effective, instance, instanceReady } = gate;
  const rendered = renderGeneration({ engine: s.identity, effective, generation: active, instance });
  const cause = mismatch(s.current.statefulSet, rendered.statefulSet);
  if (cause !== undefined) {
    const damping = dampRollout(s, gate, cause, rendered.statefulSet);
    return damping.type === "start" ? bump(s, gate, cause, damping) : holdRollout(s, gate, damping, rendered);
  }
  const ensure = { ...restoreMissing(s, rendered), ...routingRepair(s, active) };
  const status = advance(s, {
    phase: restPhase(s.engine.spec),
    observedGeneration: s.engine.metadata?.generation ?? 0,
    instanceReady,
    rollout: rolloutAtRest(s),
  });
  const waitMs = isSettled(status) ? RECHECK_MS.settled : RECHECK_MS.atRest;
  const afterMs = Math.min(waitMs, s.pods.troubleInMs ?? waitMs);
  return {
    type: "hold",
    step: "verify",
    status,
    ensure,
    recheck: ensure.routing === undefined ? { afterMs } : "requeue",
  };
}

/**
 * The number is written down before anything carries it: a crash in between loses nothing and creates nothing twice.
 */
function bump(s: EngineSnapshot, { instanceReady }: OpenGate, cause: Cause, { rollout }: Damping): EngineDecision {
  const next = s.generations.highest + 1;
  const generations = { current: next, highest: next };
  const status = advance(s, { phase: "creating", generations, instanceReady, rollout });
  return { type: "bump", step: "bump", status, cause };
}

/** The active generation keeps serving until the next one may start. */
function holdRollout(
  s: EngineSnapshot,
  { instanceReady }: OpenGate,
  { rollout, afterMs }: Damping & { readonly type: "wait" },
  rendered: RenderedGeneration,
): EngineDecision {
  const ensure = { ...restoreMissing(s, rendered), ...routingRepair(s, s.generations.active) };
  const status = advance(s, { phase: restPhase(s.engine.spec), instanceReady, rollout });
  return { type: "hold", step: "damped", status, ensure, recheck: { afterMs } };
}

/** Everything that could change from here on is watched. What pods wait for is reported in Events, which are not. */
function isSettled({ conditions }: NextStatus): boolean {
  const ready = findCondition(conditions, "Ready");
  return ready?.status === "True" || ready?.reason === "Stopped";
}
