// The Kubernetes events that a change of replicas deserves (operations §3). Pure.
import { ANNOTATION } from "../../api/labels.ts";
import type { EventNote } from "../../kube/event-object.ts";
import type { Scale } from "../decision.ts";
import { regarding } from "../events.ts";
import type { EngineSnapshot } from "../snapshot.ts";
import { wakeStampOf } from "./wake-stamp.ts";

/** To be recorded once the replicas are stored. */
export function scaleEventsOf({ from, to, reason }: Scale, { engine, nowMs }: EngineSnapshot): readonly EventNote[] {
  const scaled = { reason: "AutoStopScaled", note: `From ${from} to ${to} replicas: ${reason}` };
  const stampMs = wakeStampOf(engine.metadata);
  const woken =
    reason === "WakeRequested" && stampMs !== undefined
      ? [{ reason: "WakeRequested", note: `Annotation ${ANNOTATION.wakeRequested}, ${ageText(nowMs - stampMs)}` }]
      : [];
  return [...woken, scaled].map((told) => ({ ...told, type: "Normal", action: "Scale", regarding: regarding(engine) }));
}

function ageText(ageMs: number): string {
  return `${Math.max(0, Math.round(ageMs / 1_000))} s old`;
}
