// The caches that the instance controller reads: instances, engines, and one per child kind, of objects that carry the
// instance label.
import type { ObjectCache } from "@firebolt-operator/kube/cache";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { CHILD_KINDS, CHILDREN, type ChildKind, type CreateCache } from "../model/child-kinds.ts";

export type { CacheSpec, CreateCache } from "../model/child-kinds.ts";

/**
 * Of Secrets the metadata alone. Absent: Roles, where gateways are bound to a ClusterRole and the operator has no right
 * on them.
 */
export type ChildCaches = { readonly [K in ChildKind]?: ReturnType<(typeof CHILDREN)[K]["createCache"]> };

export interface InstanceCaches {
  readonly instances: ObjectCache<FireboltInstance>;
  readonly children: ChildCaches;
  /** Read only for whether any of them names an instance that is being deleted. */
  readonly engines: ObjectCache<FireboltEngine>;
}

export interface InstanceCachesOptions {
  /** Default true. */
  readonly roles?: boolean;
  /** Shared with other readers of engines. */
  readonly engines?: ObjectCache<FireboltEngine>;
}

/** `instances` is shared with other readers of instances; the caches of children belong to this controller alone. */
export function createInstanceCaches(
  create: CreateCache,
  instances: ObjectCache<FireboltInstance> = create<FireboltInstance>({ type: FireboltInstance }),
  { roles = true, engines = create<FireboltEngine>({ type: FireboltEngine }) }: InstanceCachesOptions = {},
): InstanceCaches {
  const kinds = CHILD_KINDS.filter((kind) => roles || !CHILDREN[kind].needsRoles);
  const caches = kinds.map((kind) => [kind, CHILDREN[kind].createCache(create)] as const);
  // Key and cache of every entry come from the same declaration.
  return { instances, engines, children: Object.fromEntries(caches) as ChildCaches };
}
