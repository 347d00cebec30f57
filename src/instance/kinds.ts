// The Kubernetes kinds that an instance is made of.
import type { KubeObject, ResourceType } from "@firebolt-operator/kube";
import {
  ConfigMap,
  CoreEvent,
  Deployment,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
} from "@firebolt-operator/kube/kinds";
import type { ChildKind, ChildTypes } from "./children.ts";

export const KINDS: { readonly [K in ChildKind]: ResourceType<ChildTypes[K]> } = {
  StatefulSet,
  Deployment,
  Service,
  ConfigMap,
  Secret,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  ServiceAccount,
  RoleBinding,
  Role,
};

/** Secrets without their contents. */
export const SECRET_METADATA: ResourceType<KubeObject> = {
  group: "",
  version: "v1",
  namespaced: true,
  kind: "Secret",
  plural: "secrets",
  metadataOnly: true,
};

/** Of the components; listed only while one is not as it should be. */
export const PODS = Pod;
/** Why a claim gets no volume. Read only, and never watched. */
export const CORE_EVENTS = CoreEvent;
