// An instance's objects as they are rendered, cached and deleted, and the instance as they refer to it. Pure.

import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Deployment, V1ObjectMeta, V1OwnerReference, V1Secret } from "../../api/generated/kubernetes.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import type { ChildKind, ChildTypes, RenderedKind } from "./child-kinds.ts";
import type { InstanceIdentity } from "./names.ts";

export { type Child, isOwnedBy, viewChild } from "@firebolt-operator/kube";
export type { ChildKind, ChildTypes, RenderedKind } from "./child-kinds.ts";

export type Instance = DeepReadonly<FireboltInstance>;
export type Deployment = DeepReadonly<V1Deployment>;
export type Secret = DeepReadonly<V1Secret>;

/** An object of the instance as the API server or a cache returns it. */
export type LiveObject = DeepReadonly<ChildTypes[RenderedKind]>;

/** A complete desired object: kind, name and owner are always set. */
export type Rendered<K extends RenderedKind = RenderedKind> = {
  [P in K]: Omit<ChildTypes[P], "metadata"> & { apiVersion: string; kind: P; metadata: RenderedMetadata };
}[K];

export interface RenderedMetadata extends V1ObjectMeta {
  name: string;
  namespace: string;
  labels: Record<string, string>;
}

/** An object of any kind, reduced to what the decision to delete it needs. */
export interface ChildReference {
  readonly kind: ChildKind;
  readonly metadata: ChildMetadata;
}

/** Without managed fields, which no decision reads. */
export type ChildMetadata = DeepReadonly<Omit<V1ObjectMeta, "managedFields">>;

/** The owner reference of the controller of an object. */
export function controllerOf(metadata: ChildMetadata | undefined): DeepReadonly<V1OwnerReference> | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

export function identityOf({ metadata }: Instance): InstanceIdentity {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "", uid: metadata?.uid ?? "" };
}
