// The Kubernetes events that a change of replicas deserves (docs/monitoring.md#events). Pure.
import type { EventNote } from "@firebolt-operator/kube/events";
import type { EngineEventReason } from "../../api/events.ts";
import { ANNOTATION } from "../../api/labels.ts";
import type { WakeRequest } from "../auto-stop/wake-request.ts";
import type { Scale } from "../model/decision.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import { regarding } from "./events.ts";

/** To be recorded once the replicas are stored. */
export function scaleEventsOf(
  scale: Scale,
  { engine, nowMs }: EngineSnapshot,
): readonly EventNote<EngineEventReason>[] {
  const { from, to, reason, wake } = scale;
  const scaled = { reason: "AutoStopScaled", note: `From ${from} to ${to} replicas: ${reason}` } as const;
  const woken =
    reason === "WakeRequested" && wake !== undefined
      ? [{ reason: "WakeRequested", note: `${sourceText(wake)}, ${ageText(nowMs - wake.stampMs)}` } as const]
      : [];
  return [...woken, scaled].map((recorded) => ({
    ...recorded,
    type: "Normal",
    action: "Scale",
    regarding: regarding(engine),
  }));
}

function sourceText({ gateway }: WakeRequest): string {
  return gateway === undefined ? `Annotation ${ANNOTATION.wakeRequested}` : `Demand reported by gateway pod ${gateway}`;
}

function ageText(ageMs: number): string {
  return `${Math.max(0, Math.round(ageMs / 1_000))} s old`;
}
