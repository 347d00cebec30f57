// The decision of one pass: the step, completed with what observe found for it. Nothing else writes a decision or its
// status. A pure function of the snapshot: no I/O, no clock, no memory.
import { withAutoStop } from "../auto-stop/auto-stop.ts";
import type { EngineDecision } from "../model/decision.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import { withEditors } from "./editors.ts";
import { withRejection } from "./rejected-write.ts";
import { computeStep } from "./steps/compute-step.ts";
import { withWarning } from "./warning.ts";

export function computeEngine(s: EngineSnapshot): EngineDecision {
  return withRejection(withAutoStop(withEditors(withWarning(computeStep(s), s), s), s), s);
}
