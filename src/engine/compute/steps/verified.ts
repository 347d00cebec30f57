// The end of a rollout and the verification that follows it in one status write: the pass that brings an engine to rest
// has observed all that the next one would. Where that would do more than confirm the spec, nothing is added
// (docs/adr/0011).
import type { NextStatus } from "../../model/decision.ts";
import { isAtRest } from "../../model/phase.ts";
import type { EngineSnapshot } from "../../model/snapshot.ts";
import { computeGates } from "../gates.ts";
import { computeAtRest } from "./at-rest.ts";

/**
 * The status at rest, with what the step `verify` would record if it confirms it as it is; otherwise the status as
 * given.
 */
export function verified(s: EngineSnapshot, status: NextStatus): NextStatus {
  const { phase, currentGeneration: current, activeGeneration: active } = status;
  if (!isAtRest(phase)) return status;
  const resting: EngineSnapshot = {
    ...s,
    phase,
    status,
    generations: { ...s.generations, current, active, draining: undefined },
  };
  const gate = computeGates(resting, phase);
  // A closed gate reports itself in its own pass; a new generation and every repair need one of their own too.
  if (gate.type === "closed") return status;
  const next = computeAtRest(resting, gate);
  return next.type === "hold" && next.step === "verify" && Object.keys(next.ensure).length === 0 ? next.status : status;
}
