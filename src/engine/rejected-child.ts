// A rendered object that the API server refuses as invalid will be refused again: the engine says what is wrong with it instead
// of looking busy. Nothing else of the status changes, and the same object is tried again at the pace of a closed gate.
import { findCondition, type Verdict } from "../api/condition-list.ts";
import { isInvalid } from "../kube/errors.ts";
import { judge } from "./compute/next-status.ts";
import { type EngineDecision, RECHECK_MS } from "./decision.ts";
import { isGated } from "./phase.ts";
import type { EngineSnapshot } from "./snapshot.ts";

/** The decision that replaces the one whose write failed; undefined when the failure is of another kind. */
export function refuseRejected(
  error: unknown,
  decision: EngineDecision,
  snapshot: EngineSnapshot,
): EngineDecision | undefined {
  // Only the phases behind the gates render anything that could be invalid.
  if (!(error instanceof Error && isInvalid(error)) || decision.type === "broken" || !isGated(snapshot.phase))
    return undefined;
  const reason = "ObjectRejected";
  const message = `the API server refuses a rendered object: ${error.message}`;
  const verdicts: Verdict[] = [{ type: "Ready", status: "False", reason, message }];
  const instance = findCondition(decision.status.conditions, "InstanceReady");
  if (instance?.status === "True") verdicts.unshift({ ...instance, status: "True" });
  return {
    type: "refuse",
    row: "§1.8",
    status: judge(snapshot, snapshot.phase, verdicts),
    refusal: { reason, message, event: reason, violations: [] },
    recheck: { afterMs: RECHECK_MS.gate },
  };
}
