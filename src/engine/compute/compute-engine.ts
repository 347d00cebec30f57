// The decision of one pass: the step, completed with what observe found for it. Nothing else writes a decision or its
// status. A pure function of the snapshot: no I/O, no clock, no memory.
import { withAutoStop } from "../auto-stop/auto-stop.ts";
import type { EngineDecision } from "../model/decision.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import { withEditors } from "./editors.ts";
import { withRejection } from "./rejected-write.ts";
import { computeStep } from "./steps/compute-step.ts";
import { withWarning } from "./warning.ts";

/** `step` does not depend on findings or on a rejected write: a pass computes it once. */
export function computeEngine(s: EngineSnapshot, step: EngineDecision = computeStep(s)): EngineDecision {
  return withRejection(withAutoStop(withEditors(withWarning(step, s), s), s), s);
}
