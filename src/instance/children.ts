// The kinds an instance is made of, as they are rendered, cached and removed. Pure: reads and writes happen elsewhere.
import type { DeepReadonly } from "../api/deep-readonly.ts";
import type {
  V1ConfigMap,
  V1Deployment,
  V1ObjectMeta,
  V1OwnerReference,
  V1PersistentVolumeClaim,
  V1PodDisruptionBudget,
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
} from "../api/generated/kubernetes.ts";
import type { FireboltInstance } from "../api/instance.ts";
import type { InstanceIdentity } from "./names.ts";

export { type Child, isOwnedBy, viewChild } from "@firebolt-operator/kube";

export type Instance = DeepReadonly<FireboltInstance>;
export type Deployment = DeepReadonly<V1Deployment>;
export type Secret = DeepReadonly<V1Secret>;

export interface ChildTypes {
  StatefulSet: V1StatefulSet;
  Deployment: V1Deployment;
  Service: V1Service;
  ConfigMap: V1ConfigMap;
  Secret: V1Secret;
  PersistentVolumeClaim: V1PersistentVolumeClaim;
  PodDisruptionBudget: V1PodDisruptionBudget;
  ServiceAccount: V1ServiceAccount;
  RoleBinding: V1RoleBinding;
  Role: V1Role;
}
export type ChildKind = keyof ChildTypes;

/** In the order in which the finalizer removes them: what runs pods first, identities last. */
export const CHILD_KINDS = [
  "StatefulSet",
  "Deployment",
  "Service",
  "ConfigMap",
  "Secret",
  "PersistentVolumeClaim",
  "PodDisruptionBudget",
  "ServiceAccount",
  "RoleBinding",
  "Role",
] as const satisfies readonly ChildKind[];

/** Neither is rendered as a whole nor cached: claims belong to the StatefulSet, and Secrets are read by name when needed. */
export type AppliedKind = Exclude<ChildKind, "Secret" | "PersistentVolumeClaim">;

/** An object of the instance as the API server or a cache tells it. */
export type LiveObject = DeepReadonly<ChildTypes[AppliedKind]>;

/** An object as it is to be, complete: kind, name and owner are always there. */
export type Rendered<K extends AppliedKind = AppliedKind> = {
  [P in K]: Omit<ChildTypes[P], "metadata"> & { apiVersion: string; kind: P; metadata: RenderedMetadata };
}[K];

export interface RenderedMetadata extends V1ObjectMeta {
  name: string;
  namespace: string;
  labels: Record<string, string>;
}

/** An object of any kind, reduced to what deciding about its removal needs. */
export interface ChildReference {
  readonly kind: ChildKind;
  readonly metadata: ChildMetadata;
}

/** Who manages which field is of no interest. */
export type ChildMetadata = DeepReadonly<Omit<V1ObjectMeta, "managedFields">>;

/** The owner reference of whoever controls an object. */
export function controllerOf(metadata: ChildMetadata | undefined): DeepReadonly<V1OwnerReference> | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

export function identityOf({ metadata }: Instance): InstanceIdentity {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "", uid: metadata?.uid ?? "" };
}
