// Whether a deleted instance still works: its engines hold the deletion until they are gone or somebody insists. Engines and instances
// must agree on it, and neither imports the other.
import type { DeepReadonly } from "./deep-readonly.ts";
import { INSTANCE_NAMES } from "./group.ts";
import type { FireboltInstance } from "./instance.ts";
import { ANNOTATION } from "./labels.ts";

/** Set by a person: deletes an instance although engines use it. */
export function insistsOnDeletion({ metadata }: Pick<DeepReadonly<FireboltInstance>, "metadata">): boolean {
  return metadata?.annotations?.[ANNOTATION.deleteDespiteEngines] === "true";
}

/** As an engine that names the instance sees it. */
export function isEnding(instance: Pick<DeepReadonly<FireboltInstance>, "metadata">): boolean {
  const { deletionTimestamp, finalizers = [] } = instance.metadata ?? {};
  if (deletionTimestamp === undefined) return false;
  const isOrphaned = finalizers.includes("orphan");
  return !finalizers.includes(INSTANCE_NAMES.finalizer) || isOrphaned || insistsOnDeletion(instance);
}
