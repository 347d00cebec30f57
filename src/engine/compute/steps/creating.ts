// `creating`: build the current generation and wait for its pods, or give it up when the spec has moved on.
// The spec is compared before readiness: a doomed generation is never waited for.
import type { StatefulSet } from "../../model/children.ts";
import { type Cause, type EngineDecision, type Ensure, RECHECK_MS } from "../../model/decision.ts";
import type { EngineSnapshot } from "../../model/snapshot.ts";
import { renderGeneration } from "../../render/generation.ts";
import { type Damping, dampRollout, rolloutAtRest, rolloutHashOf } from "../damping.ts";
import type { OpenGate } from "../gates.ts";
import { mismatch } from "../mismatch.ts";
import { advance } from "../next-status.ts";
import { ensureSet, removalsOf, routingIfMissing, routingRepair } from "../repair.ts";

export function computeCreating(s: EngineSnapshot, gate: OpenGate): EngineDecision {
  const { current, active } = s.generations;
  if (active > current)
    return {
      type: "broken",
      step: "contradiction",
      detail: `activeGeneration ${active} is ahead of currentGeneration ${current}`,
    };
  const { effective, instance, instanceReady } = gate;
  const rendered = renderGeneration({ engine: s.identity, effective, generation: current, instance });
  const { statefulSet } = s.current;
  const isThere = statefulSet.type === "live" || statefulSet.type === "terminating";
  const cause = isThere ? mismatch(statefulSet, rendered.statefulSet) : undefined;
  if (cause !== undefined) {
    const damping = dampRollout(s, gate, cause, rendered.statefulSet);
    return damping.type === "start" ? abandon(s, gate, cause, damping) : holdRollout(s, gate, damping);
  }
  // The hash belongs to the StatefulSet, which is created from or found equal to the present spec: that may have moved
  // on since the number was written down, and the process may have died between the two.
  const rolloutHash = rolloutHashOf(s, gate);
  const rollout = { rolloutHash, heldRollout: isThere ? rolloutAtRest(s).heldRollout : s.status?.heldRollout };
  const ensure = { ...routingMeanwhile(s), ...ensureSet(s, rendered) };
  if (isThere && s.pods.allReady)
    return {
      type: "move",
      step: "pods-ready",
      status: advance(s, { phase: "switching", instanceReady, rollout }),
      ensure,
      recheck: "requeue",
    };
  const status = advance(s, { phase: "creating", instanceReady, rollout });
  const leftOut = ensure.statefulSet === undefined ? {} : { leftOut: gate.leftOut };
  const waitMs = isThere ? patience(s.nowMs, statefulSet.object) : RECHECK_MS.creating;
  const recheck = { afterMs: Math.min(waitMs, s.pods.troubleInMs ?? waitMs) };
  return { type: "hold", step: isThere ? "await-pods" : "build", status, ensure, recheck, ...leftOut };
}

/**
 * Pods are watched; a look is for what hinders them, which is not. The longer they take the less a few seconds matter,
 * and a fleet that waits for a busy cluster must not keep it busy (adr/0014).
 */
function patience(nowMs: number, { metadata }: StatefulSet): number {
  const halfAgeMs = (nowMs - Date.parse(metadata?.creationTimestamp ?? "")) / 2;
  // A clock that disagrees with the API server's is no reason to wait.
  return halfAgeMs > RECHECK_MS.creating ? Math.min(halfAgeMs, RECHECK_MS.atRest) : RECHECK_MS.creating;
}

/**
 * The active generation keeps serving. A Service that selects neither it nor the generation being created was edited,
 * or was moved by a former leader to a generation abandoned since: queries would find no pod until the switch.
 */
function routingMeanwhile(s: EngineSnapshot): Pick<Ensure, "routing"> {
  const { current, active } = s.generations;
  // Before the first cut-over nothing serves, so the Service may as well name the generation that will.
  if (active < 0) return routingIfMissing(s, current);
  const astray = s.routing.type === "live" && s.routing.target !== active && s.routing.target !== current;
  return astray ? routingRepair(s, active) : routingIfMissing(s, active);
}

/** Neither abandoned nor switched to: its pods are not what the spec requests. */
function holdRollout(
  s: EngineSnapshot,
  { instanceReady }: OpenGate,
  { rollout, afterMs }: Damping & { readonly type: "wait" },
): EngineDecision {
  const status = advance(s, { phase: "creating", instanceReady, rollout });
  return { type: "hold", step: "damped", status, ensure: routingMeanwhile(s), recheck: { afterMs } };
}

function abandon(s: EngineSnapshot, { instanceReady }: OpenGate, cause: Cause, { rollout }: Damping): EngineDecision {
  const { current, active, highest } = s.generations;
  const selectsDoomed = s.routing.type === "live" && s.routing.target === current;
  const generations = { current: highest + 1, highest: highest + 1 };
  const status = advance(s, { phase: "creating", generations, instanceReady, rollout });
  return {
    type: "abandon",
    step: "abandon",
    status,
    cause,
    generation: current,
    // Traffic that already points at the doomed generation is routed back before any object of it is deleted.
    ...(active >= 0 && active !== current && selectsDoomed ? routingRepair(s, active) : {}),
    // A generation that serves is left to the sweep, which knows when it no longer does.
    remove: active === current ? [] : removalsOf(s.current, "unchanged"),
  };
}
