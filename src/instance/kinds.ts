// The addresses of the Kubernetes kinds that an instance is made of.
import { defineResource, type KubeObject, type ResourceType } from "@firebolt-operator/kube";
import type { CoreV1Event, V1Pod } from "../api/generated/kubernetes.ts";
import type { ChildKind, ChildTypes } from "./children.ts";

const core = { group: "", version: "v1", namespaced: true } as const;
const apps = { group: "apps", version: "v1", namespaced: true } as const;
const rbac = { group: "rbac.authorization.k8s.io", version: "v1", namespaced: true } as const;

export const KINDS: { readonly [K in ChildKind]: ResourceType<ChildTypes[K]> } = {
  StatefulSet: defineResource({ ...apps, kind: "StatefulSet", plural: "statefulsets" }),
  Deployment: defineResource({ ...apps, kind: "Deployment", plural: "deployments" }),
  Service: defineResource({ ...core, kind: "Service", plural: "services" }),
  ConfigMap: defineResource({ ...core, kind: "ConfigMap", plural: "configmaps" }),
  Secret: defineResource({ ...core, kind: "Secret", plural: "secrets" }),
  PersistentVolumeClaim: defineResource({ ...core, kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims" }),
  PodDisruptionBudget: defineResource({
    group: "policy",
    version: "v1",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    namespaced: true,
  }),
  ServiceAccount: defineResource({ ...core, kind: "ServiceAccount", plural: "serviceaccounts" }),
  RoleBinding: defineResource({ ...rbac, kind: "RoleBinding", plural: "rolebindings" }),
  Role: defineResource({ ...rbac, kind: "Role", plural: "roles" }),
};

/** Secrets without their contents. */
export const SECRET_METADATA: ResourceType<KubeObject> = {
  ...core,
  kind: "Secret",
  plural: "secrets",
  metadataOnly: true,
};

/** Of the components; listed only while one is not as it should be. */
export const PODS: ResourceType<V1Pod> = defineResource({ ...core, kind: "Pod", plural: "pods" });
/** Why a claim gets no volume. Read only, and never watched. */
export const CORE_EVENTS: ResourceType<CoreV1Event> = defineResource({ ...core, kind: "Event", plural: "events" });
