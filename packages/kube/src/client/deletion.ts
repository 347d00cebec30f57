// Decides from the response to a write whether the object still exists. Both deletes and updates can remove an object:
// an update that removes the last finalizer of a terminating object deletes it in the same step.
import { isFields } from "../core/fields.ts";
import type { KubeObject } from "../core/object.ts";

/** True while finalizers or a grace period keep a terminating object. */
function isHeld(object: KubeObject): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = object.metadata ?? {};
  return finalizers.length > 0 || deletionGracePeriodSeconds > 0 || hasSpecFinalizers(object);
}

/** Namespaces keep theirs in the spec. */
function hasSpecFinalizers(object: KubeObject): boolean {
  if (object.kind !== "Namespace" || !("spec" in object) || !isFields(object.spec)) return false;
  const finalizers = object.spec["finalizers"];
  return Array.isArray(finalizers) && finalizers.length > 0;
}

/** After an accepted create, update or patch that returned this object. */
export function removedByUpdate(object: KubeObject): boolean {
  return object.metadata?.deletionTimestamp !== undefined && !isHeld(object);
}

/**
 * After an accepted delete that returned this object. Kinds that are removed at once return the object as it last was,
 * without a deletionTimestamp, so the timestamp alone is not enough: check what keeps the object.
 */
export function removedByDelete(object: KubeObject): boolean {
  return object.metadata?.deletionTimestamp === undefined || !isHeld(object);
}
