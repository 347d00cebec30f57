// Tells from the API server's answer to a write whether the object still exists. Both deletes and updates can end an
// object: an update that takes the last finalizer off an object being deleted removes it in the same step.
import { isFields } from "../core/fields.ts";
import type { KubeObject } from "../core/object.ts";

/** True while something still holds an object that carries a deletionTimestamp. */
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

/** After an accepted create, update or patch that answered with this object. */
export function endedByUpdate(object: KubeObject): boolean {
  return object.metadata?.deletionTimestamp !== undefined && !isHeld(object);
}

/**
 * After an accepted delete that answered with this object. Kinds that are removed at once answer with the object as it
 * last was, without a deletionTimestamp; so do not look for the timestamp, look for what holds the object.
 */
export function endedByDelete(object: KubeObject): boolean {
  return object.metadata?.deletionTimestamp === undefined || !isHeld(object);
}
