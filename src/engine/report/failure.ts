// How a failed pass is reported: the error is appended to Ready's message, and an event is written when the error is new.
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
import type { EngineEventReason } from "../../api/events.ts";
import { FAILURE_MAX_LENGTH } from "../../api/firebolt-engine/status.ts";
import { cutText } from "../../api/values/plain-text.ts";
import { stableText } from "../../pods/stable-text.ts";
import type { Engine } from "../model/children.ts";
import type { Scale } from "../model/decision.ts";
import { regarding } from "./events.ts";

/** What to report of an error; undefined for a transient one, a bug, and a process that has lost its lease. */
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

/** Recorded unless the stored status shows the failure already. */
export function recordFailure(engine: Engine, text: string, events: EventSink<EngineEventReason>): void {
  if (engine.status?.reconcileFailure?.cause === cutText(text, FAILURE_MAX_LENGTH)) return;
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
