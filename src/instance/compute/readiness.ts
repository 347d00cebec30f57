// What a Deployment's own status says: whether anything serves, and whether a change has reached every pod.
import type { Child, Deployment, LiveObject } from "../children.ts";

/** At least one ready replica. An object that is another's, or is going away, serves nobody. */
export function isServing(child: Child<LiveObject>): boolean {
  return child.type === "live" && (statusOf(child.object).readyReplicas ?? 0) >= 1;
}

/** Every pod is of the newest template, and none of an older one is left. */
export function isRolledOut(child: Child<LiveObject>): boolean {
  if (child.type !== "live") return false;
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = statusOf(child.object);
  const isCurrent = observedGeneration >= (child.object.metadata?.generation ?? 0);
  return isCurrent && replicas === updatedReplicas && readyReplicas >= 1;
}

function statusOf(object: LiveObject): NonNullable<Deployment["status"]> {
  return ("status" in object ? (object as Deployment).status : undefined) ?? {};
}
