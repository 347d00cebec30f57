// A pass that failed, as people see it: the error's own words behind Ready's message, and an event when it is news.
// What the engine was last found to be stays; a pass that succeeds writes the message without the failure. Failures
// that end by themselves (a conflict, an API server that does not respond) are left to logs and metrics: two status
// writes for each would only add to the load.
import {
  InvariantError,
  isRejection,
  KubeApiError,
  KubeConnectionError,
  KubeTimeoutError,
  NotLeaderError,
} from "@firebolt-operator/kube";
import type { EventSink } from "@firebolt-operator/kube/events";
import { findCondition } from "../../api/condition-list.ts";
import type { EngineEventReason } from "../../api/events.ts";
import { stableText } from "../../pods/stable-text.ts";
import { namesFailure } from "../compute/failure-suffix.ts";
import type { Engine } from "../model/children.ts";
import type { Scale } from "../model/decision.ts";
import { regarding } from "./events.ts";

/** What to show of an error; undefined for one that ends by itself, and for a process that may not write any more. */
export function failureText(error: unknown): string | undefined {
  if (error instanceof NotLeaderError || error instanceof InvariantError) return undefined;
  if (error instanceof KubeConnectionError || error instanceof KubeTimeoutError) return undefined;
  const status = error instanceof KubeApiError ? error.status : undefined;
  if (status !== undefined && !isRejection(error) && !isLasting(status)) return undefined;
  return stableText(error instanceof Error ? error.message : String(error)) || "no message";
}

/** A missing object, a conflict, too many requests and failures of the server itself do not outlast a retry. */
function isLasting(status: number): boolean {
  return status >= 400 && status < 500 && ![403, 404, 408, 409, 410, 429].includes(status);
}

/** Recorded unless the stored condition names the failure already. */
export function recordFailure(engine: Engine, text: string, events: EventSink<EngineEventReason>): void {
  if (namesFailure(findCondition(engine.status?.conditions, "Ready")?.message, text)) return;
  events.record({
    type: "Warning",
    reason: "ReconcileFailed",
    action: "Reconcile",
    note: text,
    regarding: regarding(engine),
  });
}

/** Another number of replicas that could not be stored: nothing else reports why the engine does not start, or stop. */
export function scaleFailureText(
  { from, to, reason }: Pick<Scale, "from" | "to" | "reason">,
  error: unknown,
): string | undefined {
  if (!isRejection(error)) return undefined;
  return `spec.replicas stays at ${from} instead of ${to} (${reason}): ${failureText(error)}`;
}
