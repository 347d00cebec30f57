// A child that the API server refuses (invalid, forbidden by a policy or a quota, a webhook that cannot be called) or whose name another
// object holds: trying again at once does not help. The engine shows the cause instead of looking busy; nothing else of the status
// changes, and the same write is tried again at the pace of a closed gate.
import { isRejection } from "@firebolt-operator/kube";
import { findCondition, type Verdict } from "../api/condition-list.ts";
import type { EngineEventReason } from "../api/events.ts";
import type { EngineReadyReason } from "../api/reasons.ts";
import { stableText } from "../pods/stable-text.ts";
import { ChildInTheWayError } from "./apply.ts";
import { judge } from "./compute/next-status.ts";
import { type EngineDecision, RECHECK_MS } from "./decision.ts";
import type { EngineSnapshot } from "./snapshot.ts";

/** A policy that rejects an object may explain at length what to change. */
const MESSAGE_LIMIT = 2_000;

/** The decision that replaces the one whose write failed; undefined when the failure is of another kind. */
export function refuseRejected(
  error: unknown,
  decision: EngineDecision,
  snapshot: EngineSnapshot,
): EngineDecision | undefined {
  const { phase } = snapshot;
  const refusal = refusalOf(error);
  if (refusal === undefined || decision.type === "broken" || phase === "uninitialised" || phase === "unknown")
    return undefined;
  const { reason, message, isNews } = refusal;
  const verdicts: Verdict[] = [{ type: "Ready", status: "False", reason, message }];
  const instance = findCondition(decision.status.conditions, "InstanceReady");
  if (instance?.status === "True") verdicts.unshift({ ...instance, status: "True", reason: "InstanceReady" });
  return {
    type: "refuse",
    step: "object-rejected",
    status: judge(snapshot, phase, verdicts),
    refusal: { reason, message, event: isNews ? reason : undefined, violations: [] },
    recheck: { afterMs: RECHECK_MS.gate },
  };
}

interface ChildRefusal {
  readonly reason: EngineReadyReason & EngineEventReason;
  readonly message: string;
  /** Whether it deserves an event; what is on its way out only has to be waited for. */
  readonly isNews: boolean;
}

function refusalOf(error: unknown): ChildRefusal | undefined {
  if (error instanceof ChildInTheWayError) {
    const isForeign = error.obstacle.problem === "belongs to another owner";
    const wayOut = isForeign
      ? "the engine needs this name: delete or rename that object, or give the engine another name"
      : "the engine waits until it is gone";
    return { reason: "NameInUse", message: `${error.message}; ${wayOut}`, isNews: isForeign };
  }
  if (!isRejection(error)) return undefined;
  return {
    reason: "ObjectRejected",
    message: `The API server rejected an object of the engine: ${stableText(error.message, MESSAGE_LIMIT)}`,
    isNews: true,
  };
}
