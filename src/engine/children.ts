// The objects an engine owns, and what may be done with one that is found under an expected name. Pure: reads and writes
// happen elsewhere.

import type { DeepReadonly } from "../api/deep-readonly.ts";
import type { FireboltEngine } from "../api/engine.ts";
import type { FireboltEngineClass } from "../api/engine-class.ts";
import type { V1ConfigMap, V1ObjectMeta, V1Pod, V1Service, V1StatefulSet } from "../api/generated/kubernetes.ts";
import type { FireboltInstance } from "../api/instance.ts";
import { LABEL } from "../api/labels.ts";

export type Engine = DeepReadonly<FireboltEngine>;
export type EngineClass = DeepReadonly<FireboltEngineClass>;
export type Instance = DeepReadonly<FireboltInstance>;
export type StatefulSet = DeepReadonly<V1StatefulSet>;
export type Service = DeepReadonly<V1Service>;
export type ConfigMap = DeepReadonly<V1ConfigMap>;
export type Pod = DeepReadonly<V1Pod>;

type WithMetadata = { readonly metadata?: DeepReadonly<V1ObjectMeta> };

/** In the order in which they are removed: pods stop before the names they were found under go away. */
export const CHILD_KINDS = ["StatefulSet", "Service", "ConfigMap"] as const;
export type ChildKind = (typeof CHILD_KINDS)[number];

/** A child of any kind, reduced to what deciding about its removal needs. */
export interface ChildObject {
  readonly kind: ChildKind;
  readonly metadata: DeepReadonly<V1ObjectMeta>;
}

/**
 * What was found under the name of a child. A terminating one no longer counts as there, but its name is still taken;
 * a foreign one (of another owner, or of an older engine of the same name) is never written and never deleted.
 */
export type Child<T> =
  | { readonly type: "absent" }
  | { readonly type: "foreign"; readonly object: T }
  | { readonly type: "terminating"; readonly object: T }
  | { readonly type: "live"; readonly object: T };

export function viewChild<T extends WithMetadata>(object: T | undefined, ownerUid: string): Child<T> {
  if (object === undefined) return { type: "absent" };
  if (!isOwnedBy(object.metadata, ownerUid)) return { type: "foreign", object };
  return object.metadata?.deletionTimestamp === undefined ? { type: "live", object } : { type: "terminating", object };
}

export function isOwnedBy(metadata: DeepReadonly<V1ObjectMeta> | undefined, ownerUid: string): boolean {
  return metadata?.ownerReferences?.some(({ controller, uid }) => controller === true && uid === ownerUid) ?? false;
}

/** The object's generation label; undefined when there is none or when it is no generation number. */
export function generationLabel(metadata: DeepReadonly<V1ObjectMeta> | undefined): number | undefined {
  return parseGeneration(metadata?.labels?.[LABEL.generation]);
}

/** A generation number as a label holds it: decimal, without leading zeros. */
export function parseGeneration(text: string | undefined): number | undefined {
  return text !== undefined && /^(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : undefined;
}
