// Readiness of a Deployment from its status: whether a replica serves, and whether a change has reached every pod.
import type { Child, Deployment, LiveObject } from "../model/children.ts";

/** At least one ready replica. An object of another owner, or one that is being deleted, does not count. */
export function isServing(child: Child<LiveObject>): boolean {
  return child.type === "live" && (statusOf(child.object).readyReplicas ?? 0) >= 1;
}

/** Every pod has the newest template, and none of an older one is left. */
export function isRolledOut(child: Child<LiveObject>): boolean {
  if (child.type !== "live") return false;
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = statusOf(child.object);
  const isCurrent = observedGeneration >= (child.object.metadata?.generation ?? 0);
  return isCurrent && replicas === updatedReplicas && readyReplicas >= 1;
}

/**
 * Rolled out, with as many ready replicas as desired. A Deployment that does not exist counts as complete: it has no
 * pods.
 */
export function isComplete(child: Child<LiveObject>): boolean {
  if (child.type !== "live" || !("status" in child.object)) return true;
  const wanted = "spec" in child.object ? replicasOf(child.object) : 1;
  const ready = statusOf(child.object).readyReplicas ?? 0;
  return ready >= wanted && (!("updatedReplicas" in statusOf(child.object)) || wanted === 0 || isRolledOut(child));
}

function replicasOf({ spec }: LiveObject & { readonly spec?: unknown }): number {
  return typeof spec === "object" && spec !== null && "replicas" in spec && typeof spec.replicas === "number"
    ? spec.replicas
    : 1;
}

function statusOf(object: LiveObject): NonNullable<Deployment["status"]> {
  return ("status" in object ? (object as Deployment).status : undefined) ?? {};
}
