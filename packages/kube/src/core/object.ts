// What all Kubernetes objects have in common, and their keys. No I/O, no knowledge of any particular kind.

/** A reference to the owner of an object; the one with `controller` manages it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The metadata of an object. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
}

/** Any object of the API. Typed kinds extend it with their own spec and status. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
}

/** One page of a list, or all of it. */
export interface KubeList<T> {
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

/** Namespace and name of an object. Cluster-scoped objects have no namespace. */
export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/** The key as a string for queues, stores and logs: `namespace/name`, or `name` alone for cluster-scoped objects. */
export function formatKey(key: ObjectKey): string {
  return key.namespace === undefined || key.namespace === "" ? key.name : `${key.namespace}/${key.name}`;
}

/** The reverse of {@link formatKey}. */
export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The key of a stored object, from the API server or from a cache. */
export function keyOf(object: DeepReadonly<KubeObject>): ObjectKey {
  const { name, namespace } = object.metadata ?? {};
  if (name === undefined || name === "")
    throw new TypeError(`${object.kind ?? "object"} without metadata.name has no key`);
  return namespace === undefined ? { name } : { namespace, name };
}

/** Recursively readonly: objects from a cache are shared and must not be modified. */
export type DeepReadonly<T> = T extends (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;
