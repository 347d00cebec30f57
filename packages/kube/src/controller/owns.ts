// Maps events of child objects to the key of their controller owner.
import type { ObjectCache } from "../cache/cache.ts";
import type { DeepReadonly, KubeObject, ObjectKey } from "../core/object.ts";
import type { ResourceType } from "../core/resource.ts";
import { type WatchSource, watch } from "./controller.ts";

/**
 * Watches child objects: an event enqueues the child's controller owner if that is of the kind `owner`. When a child
 * changes its owner, both are enqueued. A cache that trims its objects must keep `metadata.ownerReferences`.
 */
export function owns<T extends KubeObject>(children: ObjectCache<T>, owner: ResourceType): WatchSource {
  return watch(children, ({ object, previous }) => {
    const now = ownerKey(object, owner);
    const before = ownerKey(previous, owner);
    return [now, ...(before?.name === now?.name ? [] : [before])].filter((key) => key !== undefined);
  });
}

/**
 * Compares group and kind, because the version of an owner's API may change. A namespaced owner is in the child's
 * namespace.
 */
function ownerKey(child: DeepReadonly<KubeObject> | undefined, owner: ResourceType): ObjectKey | undefined {
  const { ownerReferences = [], namespace } = child?.metadata ?? {};
  const reference = ownerReferences.find(({ controller }) => controller === true);
  if (reference === undefined || reference.kind !== owner.kind || groupOf(reference.apiVersion) !== owner.group)
    return undefined;
  return owner.namespaced && namespace !== undefined ? { namespace, name: reference.name } : { name: reference.name };
}

const groupOf = (apiVersion: string): string => (apiVersion.includes("/") ? (apiVersion.split("/", 1)[0] ?? "") : "");
