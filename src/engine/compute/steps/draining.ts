// `draining` and `cleaning`: let the old generation finish its queries, then delete it, or switch back to it when it
// is what the spec requests again. Keeps traffic on the active generation meanwhile.
import { type EngineDecision, type Ensure, RECHECK_MS } from "../../model/decision.ts";
import { restPhase } from "../../model/phase.ts";
import type { EngineSnapshot, GenerationSet } from "../../model/snapshot.ts";
import { renderGeneration } from "../../render/generation.ts";
import { rolloutHashOf } from "../damping.ts";
import { computeGates } from "../gates.ts";
import { mismatch } from "../mismatch.ts";
import { type Advance, advance, restProblem } from "../next-status.ts";
import { removalsOf, routingFlip, routingRepair } from "../repair.ts";
import { verified } from "./verified.ts";

export function computeDraining(s: EngineSnapshot): EngineDecision {
  const ahead = nothingToDrain(s) ?? misplaced(s) ?? switchBack(s);
  if (ahead !== undefined) return ahead;
  const ensure = routingRepair(s, s.generations.active);
  // A pod that cannot be queried counts as busy: the generation is deleted only after a probe found every pod idle, or
  // where none is required.
  if (s.drain.required && (s.drainProbe.type !== "drained" || isStray(s))) return holdDrain(s, ensure);
  return { type: "move", step: "drained", status: advance(s, { phase: "cleaning" }), ensure, recheck: "requeue" };
}

export function computeCleaning(s: EngineSnapshot): EngineDecision {
  const ahead = nothingToDrain(s) ?? misplaced(s) ?? stillRouted(s);
  if (ahead !== undefined) return ahead;
  const status = advance(s, { phase: restPhase(s.engine.spec) });
  const problem = restProblem(status);
  if (problem !== undefined) return problem;
  const remove = s.draining === undefined ? [] : removalsOf(s.draining, "any version", s.orphanedPods);
  const ensure = routingRepair(s, s.generations.active);
  return { type: "clean", step: "clean", status: verified(s, status), ensure, remove };
}

function holdDrain(s: EngineSnapshot, ensure: Pick<Ensure, "routing">): EngineDecision {
  const { drainProbe, drain } = s;
  // Queries went to the draining generation until now, so the time in which clients learn of the switch starts again.
  const isChecked = drainProbe.type === "busy" || drainProbe.type === "failing";
  const step: Advance = {
    phase: "draining",
    ...(isStray(s) && { switched: true }),
    ...(isChecked && { drainChecked: true }),
  };
  const settledInMs = drainProbe.type === "settling" ? Math.max(1, drainProbe.untilMs - s.nowMs) : drain.intervalMs;
  return { type: "hold", step: "drain-wait", status: advance(s, step), ensure, recheck: { afterMs: settledInMs } };
}

/** The routing Service selects something else than the generation that serves. */
function isStray({ routing, generations: { active } }: EngineSnapshot): boolean {
  return routing.type === "live" && routing.target !== active;
}

/** Where the routing Service, as the API server has it, still sends queries to the generation that would be deleted. */
function stillRouted(s: EngineSnapshot): EngineDecision | undefined {
  const { routing, generations, drain } = s;
  if (isStray(s) && drain.required) {
    const status = advance(s, { phase: "draining", switched: true });
    return {
      type: "move",
      step: "drain-again",
      status,
      ensure: routingRepair(s, generations.active),
      recheck: { afterMs: drain.intervalMs },
    };
  }
  // A Service that is not the engine's, or is being deleted, cannot be changed.
  const isStuck =
    (routing.type === "foreign" || routing.type === "terminating") && routing.target === generations.draining;
  if (!isStuck) return undefined;
  const status = advance(s, { phase: "cleaning" });
  return { type: "hold", step: "routing-in-the-way", status, ensure: {}, recheck: { afterMs: RECHECK_MS.creating } };
}

/**
 * A wake or a reverted edit while the old generation drains: it is what the spec requests, and all of its pods are
 * ready. Queries go back to it, and the generation that was to replace it drains instead. No third one has to be built.
 */
function switchBack(s: EngineSnapshot): EngineDecision | undefined {
  const { current, active, draining } = s.generations;
  if (draining === undefined || s.draining === undefined || !s.drainingPods.allReady || s.drainingPods.wanted === 0)
    return undefined;
  const gate = computeGates(s, "draining");
  if (gate.type === "closed") return undefined;
  const differs = ({ statefulSet, generation }: GenerationSet): boolean => {
    const { effective, instance } = gate;
    const rendered = renderGeneration({ engine: s.identity, effective, generation, instance });
    return mismatch(statefulSet, rendered.statefulSet) !== undefined;
  };
  if (differs(s.draining) || !differs(s.current)) return undefined;
  const generations = { current: draining, active: draining, draining: current };
  const rollout = { rolloutHash: rolloutHashOf(s, gate), heldRollout: s.status?.heldRollout };
  const status = advance({ ...s, pods: s.drainingPods }, { phase: "draining", generations, switched: true, rollout });
  const isRouted = s.routing.type === "live" && s.routing.target === draining;
  const ensure = isRouted ? {} : routingFlip(s, draining);
  return current === active ? { type: "move", step: "switch-back", status, ensure, recheck: "requeue" } : undefined;
}

function nothingToDrain(s: EngineSnapshot): EngineDecision | undefined {
  if (s.generations.draining !== undefined) return undefined;
  const status = advance(s, { phase: restPhase(s.engine.spec) });
  return restProblem(status) ?? { type: "move", step: "nothing-to-drain", status, ensure: {}, recheck: "requeue" };
}

/** Deleting by a status that contradicts itself could hit the serving generation. */
function misplaced({ phase, generations }: EngineSnapshot): EngineDecision | undefined {
  const { current, active, draining, highest } = generations;
  if (draining !== undefined && draining !== current && draining <= highest && current === active) return undefined;
  const detail = `${phase} with currentGeneration ${current}, activeGeneration ${active}, drainingGeneration ${draining}`;
  return { type: "broken", step: "contradiction", detail };
}
