// Which Kubernetes events a stored decision deserves (operations §3). Pure: what is told depends on the decision and on the
// status before it, so a repeated pass tells nothing twice.

import { findCondition } from "../api/condition-list.ts";
import { API_VERSION } from "../api/group.ts";
import type { EventNote } from "../kube/event-object.ts";
import type { Engine } from "./children.ts";
import type { Cause, WritableDecision } from "./decision.ts";

type Told = Pick<EventNote, "type" | "reason" | "action" | "note">;

/** To be recorded once the decision's status is stored. */
export function eventsOf(decision: WritableDecision, before: Engine): readonly EventNote[] {
  return toldBy(decision, before).map((told) => ({ ...told, regarding: regarding(before) }));
}

export function regarding({ metadata }: Engine): EventNote["regarding"] {
  const { namespace, name = "", uid } = metadata ?? {};
  return {
    apiVersion: API_VERSION,
    kind: "FireboltEngine",
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

function toldBy(decision: WritableDecision, before: Engine): readonly Told[] {
  const { currentGeneration, activeGeneration } = decision.status;
  switch (decision.type) {
    case "bump":
      return [
        rollout(
          "GenerationCreated",
          `Generation ${currentGeneration} replaces ${activeGeneration}: ${causeText(decision.cause)}`,
        ),
      ];
    case "abandon":
      return [
        rollout(
          "GenerationAbandoned",
          `Generation ${decision.generation} is given up for ${currentGeneration}: ${causeText(decision.cause)}`,
        ),
      ];
    case "move":
      return decision.row === "T13" || decision.row === "T14"
        ? [
            rollout(
              "TrafficSwitched",
              `Queries go to generation ${activeGeneration}, no longer to ${decision.status.drainingGeneration}`,
            ),
          ]
        : [];
    case "hold":
      return enters(decision, before, "DrainCheckFailing")
        ? [warning("DrainCheckFailing", "Drain", messageOf(decision))]
        : [];
    case "refuse": {
      const { reason, message } = decision.refusal;
      const told = REFUSAL_EVENTS[reason];
      return told !== undefined && enters(decision, before, reason) ? [warning(told, "Reconcile", message)] : [];
    }
    case "initialise":
    case "clean":
      return [];
    default:
      return decision satisfies never;
  }
}

/** Names the field and never its values, which may be somebody's credentials. */
function causeText({ path }: Cause): string {
  switch (path) {
    case "statefulSet":
      return "its StatefulSet is gone";
    case "metadata.deletionTimestamp":
      return "its StatefulSet is being deleted";
    default:
      return `${path} differs`;
  }
}

/** Waiting for an instance is no refusal: engines are created before their instance is ready all the time. */
const REFUSAL_EVENTS: Readonly<Record<string, string | undefined>> = {
  FireboltEngineClassUnready: "EngineClassUnready",
  NameRejected: "NameRejected",
  ObjectRejected: "ObjectRejected",
  TemplateRejected: "TemplateRejected",
  ResourceBoundsExceeded: "ResourceBoundsExceeded",
};

function enters(decision: WritableDecision, before: Engine, reason: string): boolean {
  const now = findCondition(decision.status.conditions, "Ready");
  return now?.reason === reason && findCondition(before.status?.conditions, "Ready")?.reason !== reason;
}

function messageOf(decision: WritableDecision): string {
  return findCondition(decision.status.conditions, "Ready")?.message ?? "";
}

function rollout(reason: string, note: string): Told {
  return { type: "Normal", reason, action: "Rollout", note };
}

function warning(reason: string, action: string, note: string): Told {
  return { type: "Warning", reason, action, note };
}
