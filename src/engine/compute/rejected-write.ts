// A child that the API server rejected in this pass (invalid, forbidden by a policy or a quota, a webhook that cannot
// be called) or whose name another object holds: an immediate retry does not help. The engine reports the cause instead
// of looking busy; nothing else of the status changes, and the same write is retried at the pace of a closed gate.
import { findCondition, type Verdict } from "../../api/condition-list.ts";
import type { EngineEventReason } from "../../api/events.ts";
import type { EngineReadyReason } from "../../api/reasons.ts";
import { stableText } from "../../pods/stable-text.ts";
import { type EngineDecision, RECHECK_MS } from "../model/decision.ts";
import type { EngineSnapshot, RejectedWrite } from "../model/snapshot.ts";
import { refused, withVerdicts } from "./next-status.ts";

/** A policy that rejects an object may explain at length what to change. */
const MESSAGE_LIMIT = 2_000;

export function withRejection(decision: EngineDecision, s: EngineSnapshot): EngineDecision {
  const { phase, rejected } = s;
  if (rejected === undefined || decision.type === "broken" || phase === "uninitialised" || phase === "unknown")
    return decision;
  // A query that wakes the engine does not wait for a repair: the generation that it starts needs none of it.
  if (decision.type === "hold" && decision.scale !== undefined) return decision;
  const { reason, message, isNews } = rejectionOf(rejected);
  const verdicts: Verdict[] = [{ type: "Ready", status: "False", reason, message }];
  const instance = findCondition(decision.status.conditions, "InstanceReady");
  if (instance?.status === "True") verdicts.unshift({ ...instance, status: "True", reason: "InstanceReady" });
  const refusal = { reason, message, event: isNews ? reason : undefined, violations: [] };
  return {
    type: "refuse",
    step: "object-rejected",
    status: refused(withVerdicts(s, phase, verdicts), refusal),
    refusal,
    recheck: { afterMs: RECHECK_MS.gate },
  };
}

interface Rejection {
  readonly reason: EngineReadyReason & EngineEventReason;
  readonly message: string;
  /** Whether it deserves an event; an object that is being deleted only has to be waited for. */
  readonly isNews: boolean;
}

function rejectionOf(rejected: RejectedWrite): Rejection {
  switch (rejected.type) {
    case "nameInUse": {
      const isForeign = rejected.obstacle.type === "foreign";
      const remedy = isForeign
        ? "the engine needs this name: delete or rename that object, or give the engine another name"
        : "the engine waits until it is deleted";
      return { reason: "NameInUse", message: `${rejected.message}; ${remedy}`, isNews: isForeign };
    }
    case "rejected":
      return {
        reason: "ObjectRejected",
        message: `The API server rejected an object of the engine: ${stableText(rejected.message, MESSAGE_LIMIT)}`,
        isNews: true,
      };
    default:
      return rejected satisfies never;
  }
}
