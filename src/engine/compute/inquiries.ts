// Which further reads the step of a pass depends on: each costs a request, so observe makes them only where they are
// listed here. Pure.

import { activityRequest, needsStopTime } from "../auto-stop/auto-stop.ts";
import type { ActivityRequest } from "../auto-stop/decide.ts";
import type { EngineDecision } from "../model/decision.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import { editedService, editedStatefulSet } from "./editors.ts";
import { computeStep } from "./steps/compute-step.ts";
import { type StuckStatefulSet, warnedStatefulSet } from "./warning.ts";

/** Undefined: not needed. */
export interface Inquiries {
  /** The StatefulSet whose warnings are listed. */
  readonly warningsOf: StuckStatefulSet | undefined;
  /** The StatefulSet and the Service, by name, whose last editor is looked up. */
  readonly statefulSetEditor: string | undefined;
  readonly serviceEditor: string | undefined;
  /** When `spec.replicas` was set to zero. */
  readonly stopTime: boolean;
  /** The queries of the active generation, for auto-stop. */
  readonly activity: ActivityRequest | undefined;
}

/** From a snapshot without findings, and the step that it leads to. */
export function inquiriesOf(s: EngineSnapshot, step: EngineDecision = computeStep(s)): Inquiries {
  return {
    warningsOf: warnedStatefulSet(step, s),
    statefulSetEditor: editedStatefulSet(step, s),
    serviceEditor: editedService(step, s),
    stopTime: needsStopTime(step, s),
    activity: activityRequest(step, s),
  };
}
