// Names who edited a StatefulSet whose next generation is held, or a routing Service that is about to be written over: the field manager
// of the newest change that is not the operator's. Best effort: a failed look-up is logged and changes nothing.
import type { Logger } from "@firebolt-operator/kube";
import { FIELD_MANAGER } from "../api/group.ts";
import type { Service, StatefulSet } from "./children.ts";
import type { EngineDecision } from "./decision.ts";
import type { EngineSnapshot } from "./snapshot.ts";
import type { EngineWorld } from "./world.ts";

interface Io {
  readonly world: EngineWorld;
  readonly logger: Logger;
}

export async function nameEditor(decision: EngineDecision, s: EngineSnapshot, io: Io): Promise<EngineDecision> {
  return nameServiceEditor(await nameStatefulSetEditor(decision, s, io), s, io);
}

async function nameServiceEditor(
  decision: EngineDecision,
  { phase, identity: { namespace } }: EngineSnapshot,
  { world, logger }: Io,
): Promise<EngineDecision> {
  // The switch itself is no repair.
  if (phase === "switching") return decision;
  if (decision.type !== "hold" || decision.ensure.routing?.observed.type !== "live") return decision;
  const { name } = decision.ensure.routing.service.metadata ?? {};
  if (name === undefined) return decision;
  try {
    const editor = newestEditor(await world.readService({ namespace, name }));
    return editor === undefined ? decision : { ...decision, editor };
  } catch (error) {
    if (world.signal.aborted) throw error;
    logger.error("the editor of the Service could not be looked up", error, { service: name });
    return decision;
  }
}

async function nameStatefulSetEditor(
  decision: EngineDecision,
  { current, identity: { namespace } }: EngineSnapshot,
  { world, logger }: Io,
): Promise<EngineDecision> {
  if (decision.type !== "hold" || decision.step !== "damped" || current.statefulSet.type !== "live") return decision;
  const { heldRollout } = decision.status;
  const { name } = current.statefulSet.object.metadata ?? {};
  if (heldRollout === undefined || heldRollout.manager !== undefined || name === undefined) return decision;
  try {
    // Caches do not keep managed fields.
    const live = await world.readStatefulSet({ namespace, name });
    const manager = isScaledToZero(live) ? SCALE_CLIENT : newestEditor(live);
    if (manager === undefined) return decision;
    return { ...decision, status: { ...decision.status, heldRollout: { ...heldRollout, manager } } };
  } catch (error) {
    if (world.signal.aborted) throw error;
    logger.error("the editor of the StatefulSet could not be looked up", error, { statefulSet: name });
    return decision;
  }
}

/** Who writes there cannot be told apart: a zero leaves no name behind. */
const SCALE_CLIENT = "a client of the scale subresource (kubectl scale, an autoscaler)";

/**
 * In a Scale a zero is an absent field, and the API server takes absent fields from all managers: nobody owns the replicas then. Whoever
 * writes the StatefulSet itself does.
 */
function isScaledToZero(set: StatefulSet | undefined): boolean {
  const { managedFields = [] } = set?.metadata ?? {};
  const isOwned = managedFields.some(({ fieldsV1 }) => {
    const spec = fieldsV1?.["f:spec"];
    return typeof spec === "object" && spec !== null && "f:replicas" in spec;
  });
  return set?.spec?.replicas === 0 && managedFields.length > 0 && !isOwned;
}

function newestEditor(object: StatefulSet | Service | undefined): string | undefined {
  const foreign = (object?.metadata?.managedFields ?? []).filter(
    // Kubernetes itself writes the status; `kubectl scale` is an edit.
    ({ manager, subresource }) => manager !== FIELD_MANAGER && subresource !== "status",
  );
  return foreign.toSorted((a, b) => Date.parse(b.time ?? "") - Date.parse(a.time ?? ""))[0]?.manager;
}
