// A resource type is a value: the address of a kind in the API, carrying the TypeScript type of its objects.
import type { KubeObject, ObjectKey } from "./object.ts";

/** The address of a kind in the API, carrying the type of its objects. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Reads and watches return only metadata: the server does not send the rest, and T has nothing else. */
  readonly metadataOnly?: true;
  /** Carries T for inference; never present at run time. */
  readonly objectType?: T;
}

/** Declares a kind: `defineResource<Thing>({ group, version, kind, plural, namespaced })`. */
export function defineResource<T extends KubeObject>(type: Omit<ResourceType<T>, "objectType">): ResourceType<T> {
  return type;
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

/** `deployments.apps`, or `pods` for the core group: for logs, metrics and errors. */
export function groupResourceOf(type: ResourceType): string {
  return type.group === "" ? type.plural : `${type.plural}.${type.group}`;
}

/** The REST path of a collection; of all namespaces when none is given. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  if (!type.namespaced || namespace === undefined || namespace === "") return `${root}/${type.plural}`;
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${type.plural}`;
}

/** The REST path of one object, or of one of its subresources. */
export function objectPath(type: ResourceType, key: ObjectKey, subresource?: string): string {
  if (type.namespaced && !key.namespace) throw new TypeError(`${type.kind} ${key.name} needs a namespace`);
  const path = `${collectionPath(type, key.namespace)}/${encodeURIComponent(key.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
