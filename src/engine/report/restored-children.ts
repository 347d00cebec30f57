// Which of a decision's writes restore an object that was deleted or edited, as events. Pure; the editor of a Service
// is part of the decision (compute/editors.ts).
import type { EventNote } from "@firebolt-operator/kube/events";
import type { EngineEventReason } from "../../api/events.ts";
import { PART_NAMES, PARTS } from "../model/child-kinds.ts";
import type { WritableDecision } from "../model/decision.ts";
import { isAtRest } from "../model/phase.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import { regarding } from "./events.ts";

type Named = { readonly metadata?: { readonly name?: string } };
type Hold = WritableDecision & { readonly type: "hold" };

/** To be recorded once the objects are written, whether or not the status changes with them. */
export function restoredEventsOf(
  decision: WritableDecision,
  s: EngineSnapshot,
): readonly EventNote<EngineEventReason>[] {
  return restored(decision, s).map((note) => ({
    type: "Normal",
    reason: "ChildRestored",
    action: "Reconcile",
    note,
    regarding: regarding(s.engine),
  }));
}

function restored(decision: WritableDecision, s: EngineSnapshot): readonly string[] {
  if (decision.type !== "hold") return [];
  const { ensure } = decision;
  const sets = isBuilt(decision, s) ? PART_NAMES.map((part) => put(PARTS[part].kind, ensure[part])) : [];
  return [...sets, routed(decision, s)].flatMap((note) => note ?? []);
}

/** The objects of a generation that has its StatefulSet were all there before. */
function isBuilt({ step }: Hold, { phase }: EngineSnapshot): boolean {
  return isAtRest(phase) || step === "await-pods";
}

function put(
  kind: string,
  write: { readonly object: Named; readonly exists: boolean } | undefined,
): string | undefined {
  if (write === undefined) return undefined;
  const what = `${kind} ${write.object.metadata?.name}`;
  return write.exists ? `${what} was edited and has been restored` : `${what} was deleted and has been created again`;
}

/** Before the first cut-over the Service is made, and in `switching` it is moved on purpose. */
function routed({ ensure: { routing }, editor }: Hold, { phase, generations }: EngineSnapshot): string | undefined {
  if (routing === undefined || generations.active < 0 || phase === "switching") return undefined;
  const what = `Service ${routing.service.metadata?.name}`;
  if (routing.observed.type === "absent") return `${what} was deleted and has been created again`;
  return `${what} was edited${editor === undefined ? "" : ` by ${editor}`} and has been restored`;
}
