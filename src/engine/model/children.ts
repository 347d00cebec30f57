// The objects that an engine reads and owns, as readers see them, and the generation in their labels. Pure.

import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../api/firebolt-engine/engine-class.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1ConfigMap, V1ObjectMeta, V1Pod, V1Service, V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import type { ChildKind } from "./child-kinds.ts";

export { type Child, controllerUid, isOwnedBy, type OwnedMetadata, viewChild } from "@firebolt-operator/kube";
export { CHILD_KINDS, type ChildKind } from "./child-kinds.ts";

export type Engine = DeepReadonly<FireboltEngine>;
export type EngineClass = DeepReadonly<FireboltEngineClass>;
export type Instance = DeepReadonly<FireboltInstance>;
export type StatefulSet = DeepReadonly<V1StatefulSet>;
export type Service = DeepReadonly<V1Service>;
export type ConfigMap = DeepReadonly<V1ConfigMap>;
export type Pod = DeepReadonly<V1Pod>;

/** A child of any kind, reduced to what deciding about its removal needs. */
export interface ChildObject {
  readonly kind: ChildKind;
  readonly metadata: DeepReadonly<V1ObjectMeta>;
}

/** The object's generation label; undefined when there is none or when it is no generation number. */
export function generationLabel(metadata: Pick<DeepReadonly<V1ObjectMeta>, "labels"> | undefined): number | undefined {
  return parseGeneration(metadata?.labels?.[LABEL.generation]);
}

/** A generation number as a label holds it: decimal, without leading zeros. */
export function parseGeneration(text: string | undefined): number | undefined {
  return text !== undefined && /^(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : undefined;
}
