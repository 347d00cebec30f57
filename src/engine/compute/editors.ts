// Who edited a StatefulSet whose next generation is held, or a routing Service that is about to be restored: the field
// manager of the newest change that is not the operator's. Pure: observe reads the objects, because caches do not keep
// managed fields.
import { FIELD_MANAGER } from "../../api/group.ts";
import type { Service, StatefulSet } from "../model/children.ts";
import type { EngineDecision } from "../model/decision.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";

/** The name of the StatefulSet whose edit holds the next generation, while its editor is unknown. */
export function editedStatefulSet(decision: EngineDecision, { current }: EngineSnapshot): string | undefined {
  if (decision.type !== "hold" || decision.step !== "damped" || current.statefulSet.type !== "live") return undefined;
  const { heldRollout } = decision.status;
  if (heldRollout === undefined || heldRollout.manager !== undefined) return undefined;
  return current.statefulSet.object.metadata?.name;
}

/** The name of the routing Service that the decision restores. */
export function editedService(decision: EngineDecision, { phase }: EngineSnapshot): string | undefined {
  // The switch itself is no repair.
  if (phase === "switching") return undefined;
  if (decision.type !== "hold" || decision.ensure.routing?.observed.type !== "live") return undefined;
  return decision.ensure.routing.service.metadata?.name;
}

export function withEditors(decision: EngineDecision, { findings }: EngineSnapshot): EngineDecision {
  if (decision.type !== "hold") return decision;
  const { statefulSetEditor: manager, serviceEditor: editor } = findings ?? {};
  const { heldRollout } = decision.status;
  const status =
    manager === undefined || heldRollout === undefined
      ? decision.status
      : { ...decision.status, heldRollout: { ...heldRollout, manager } };
  return { ...decision, status, ...(editor === undefined ? {} : { editor }) };
}

export function statefulSetEditorOf(set: StatefulSet | undefined): string | undefined {
  return isScaledToZero(set) ? SCALE_CLIENT : newestEditor(set);
}

/** Clients of the scale subresource cannot be distinguished: setting zero leaves no field manager. */
const SCALE_CLIENT = "a client of the scale subresource (kubectl scale, an autoscaler)";

/**
 * In a Scale a zero is an absent field, and the API server takes absent fields from all managers: then no manager owns
 * the replicas. A write of the StatefulSet itself leaves one.
 */
function isScaledToZero(set: StatefulSet | undefined): boolean {
  const { managedFields = [] } = set?.metadata ?? {};
  const isOwned = managedFields.some(({ fieldsV1 }) => {
    const spec = fieldsV1?.["f:spec"];
    return typeof spec === "object" && spec !== null && "f:replicas" in spec;
  });
  return set?.spec?.replicas === 0 && managedFields.length > 0 && !isOwned;
}

export function newestEditor(object: StatefulSet | Service | undefined): string | undefined {
  const foreign = (object?.metadata?.managedFields ?? []).filter(
    // Kubernetes itself writes the status; `kubectl scale` is an edit.
    ({ manager, subresource }) => manager !== FIELD_MANAGER && subresource !== "status",
  );
  return foreign.toSorted((a, b) => Date.parse(b.time ?? "") - Date.parse(a.time ?? ""))[0]?.manager;
}
