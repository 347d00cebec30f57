// The failure of the last pass behind Ready's message. What stands before it is what the engine was last found to be;
// the status keeps both, so that no code takes the message apart. Pure.
import { findCondition } from "../../api/condition-list.ts";
import { type EngineStatus, FAILURE_MAX_LENGTH } from "../../api/firebolt-engine/status.ts";
import { ENGINE_REASONS, type ReasonRow } from "../../api/reasons.ts";
import { CONDITION_MESSAGE_MAX_LENGTH, type Condition } from "../../api/schema/condition.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { cutText } from "../../api/values/plain-text.ts";
import { SHOWN_RECORDS, type Shown, shownOf } from "../model/shown-state.ts";
import { rollingText } from "./ready.ts";

type Status = DeepReadonly<Partial<EngineStatus>>;

/** What this pass has found, with its failure behind Ready's message. */
export function withFailure(shown: DeepReadonly<Shown>, cause: string): Shown {
  return appended(shown, findCondition(shown.conditions, "Ready"), cause);
}

/** What an earlier pass has found, with the failure of this one in place of one that Ready's message may end with. */
export function withLaterFailure(status: Status, cause: string): Shown {
  const ready = findCondition(status.conditions, "Ready");
  // An older CRD keeps no record at all: what the message holds is not known, and so nothing is appended to it.
  const isKnown = SHOWN_RECORDS.some((record) => status[record] !== undefined);
  const before =
    isKnown || ready === undefined ? readyBeforeFailure(status) : { ...ready, message: again(status, ready) };
  return appended(shownOf(status), before, cause);
}

/** The stored Ready without the failure of the last pass. */
export function readyBeforeFailure(
  status: DeepReadonly<Pick<EngineStatus, "conditions" | "reconcileFailure">> | undefined,
): Readonly<Condition> | undefined {
  const ready = findCondition(status?.conditions, "Ready");
  const message = status?.reconcileFailure?.readyMessage;
  return ready === undefined || message === undefined ? ready : { ...ready, message };
}

function appended(shown: DeepReadonly<Shown>, before: Readonly<Condition> | undefined, text: string): Shown {
  const { conditions = [], ...records } = shown;
  if (before === undefined) return { ...records, conditions: conditions.map((one) => ({ ...one })) };
  const cause = cutText(text, FAILURE_MAX_LENGTH);
  const failure = `; the last reconcile failed: ${cause}`;
  const message = `${cutText(before.message, CONDITION_MESSAGE_MAX_LENGTH - failure.length)}${failure}`;
  return {
    ...records,
    conditions: conditions.map((one) => (one.type === "Ready" ? { ...before, message } : { ...one })),
    reconcileFailure: { cause, readyMessage: cutText(before.message, CONDITION_MESSAGE_MAX_LENGTH) },
  };
}

/** Ready in words that its reason and the rest of the status decide. */
function again(
  { activeGeneration, currentGeneration = 0, phase, conditions, ...rest }: Status,
  { reason }: Readonly<Condition>,
): string {
  switch (reason) {
    case "EngineReady":
      return `Generation ${activeGeneration} is serving`;
    case "Stopped":
      return "Engine is stopped (spec.replicas is 0)";
    case "Rolling":
      return rollingText(currentGeneration, phase ?? "unknown");
    case "PodsNotReady":
      return `Generation ${activeGeneration}: not all pods are ready`;
    case "InstanceNotReady":
      return findCondition(conditions, "InstanceReady")?.message ?? "The instance is not ready";
    case "DrainCheckFailing":
      return `Drain check of generation ${rest.drainingGeneration ?? "?"} is failing`;
    default: {
      const rows: Readonly<Record<string, ReasonRow>> = ENGINE_REASONS.Ready;
      return `Engine is not ready (${reason}): ${rows[reason]?.meaning ?? "a warning about its StatefulSet"}`;
    }
  }
}
