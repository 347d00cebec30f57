// Whether a deleted instance still works: its engines block the deletion until they are deleted or an annotation
// overrides it. Shared by the engine and the instance controller.

import { INSTANCE_NAMES } from "../group.ts";
import { ANNOTATION } from "../labels.ts";
import type { DeepReadonly } from "../values/deep-readonly.ts";
import type { FireboltInstance } from "./instance.ts";

/** The annotation that deletes an instance although engines use it. */
export function insistsOnDeletion({ metadata }: Pick<DeepReadonly<FireboltInstance>, "metadata">): boolean {
  return metadata?.annotations?.[ANNOTATION.deleteDespiteEngines] === "true";
}

/** Whether engines must treat the instance as deleted. */
export function isEnding(instance: Pick<DeepReadonly<FireboltInstance>, "metadata">): boolean {
  const { deletionTimestamp, finalizers = [] } = instance.metadata ?? {};
  if (deletionTimestamp === undefined) return false;
  const isOrphaned = finalizers.includes("orphan");
  return !finalizers.includes(INSTANCE_NAMES.finalizer) || isOrphaned || insistsOnDeletion(instance);
}
