// The decision of one pass: the step, completed with what observe found for it. Nothing else writes a decision or its
// status. A pure function of the snapshot: no I/O, no clock, no memory.
import { withAutoStop } from "../auto-stop/step.ts";
import type { EngineDecision } from "../decision.ts";
import type { EngineSnapshot } from "../snapshot.ts";
import { computeStep } from "./compute-step.ts";
import { withEditors } from "./editors.ts";
import { withRejection } from "./rejected-write.ts";
import { withWarning } from "./warning.ts";

export function computeEngine(s: EngineSnapshot): EngineDecision {
  return withRejection(withAutoStop(withEditors(withWarning(computeStep(s), s), s), s), s);
}
