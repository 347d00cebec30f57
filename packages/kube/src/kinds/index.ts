// Kubernetes' own kinds, typed: `client.list(Pod)` gives V1Pod objects. For any other kind there is `defineResource`.
import { defineResource } from "../core/resource.ts";
import type {
  CoreV1Event,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1CustomResourceDefinition,
  V1Deployment,
  V1EndpointSlice,
  V1Lease,
  V1MutatingWebhookConfiguration,
  V1Namespace,
  V1NetworkPolicy,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1ReplicaSet,
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V1StorageClass,
  V1ValidatingWebhookConfiguration,
} from "./kubernetes.ts";

export type * from "./kubernetes.ts";

const core = { group: "", version: "v1", namespaced: true } as const;
const coreCluster = { group: "", version: "v1", namespaced: false } as const;
const apps = { group: "apps", version: "v1", namespaced: true } as const;
const rbac = { group: "rbac.authorization.k8s.io", version: "v1", namespaced: true } as const;
const rbacCluster = { group: "rbac.authorization.k8s.io", version: "v1", namespaced: false } as const;
const admission = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false } as const;

export const ConfigMap = defineResource<V1ConfigMap>({ ...core, kind: "ConfigMap", plural: "configmaps" });
/** The old group of events, in which `kubectl describe` finds them; what the recorder writes is in `events.k8s.io`. */
export const CoreEvent = defineResource<CoreV1Event>({ ...core, kind: "Event", plural: "events" });
export const PersistentVolumeClaim = defineResource<V1PersistentVolumeClaim>({
  ...core,
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
});
export const Pod = defineResource<V1Pod>({ ...core, kind: "Pod", plural: "pods" });
export const Secret = defineResource<V1Secret>({ ...core, kind: "Secret", plural: "secrets" });
export const Service = defineResource<V1Service>({ ...core, kind: "Service", plural: "services" });
export const ServiceAccount = defineResource<V1ServiceAccount>({
  ...core,
  kind: "ServiceAccount",
  plural: "serviceaccounts",
});

export const Namespace = defineResource<V1Namespace>({ ...coreCluster, kind: "Namespace", plural: "namespaces" });
export const Node = defineResource<V1Node>({ ...coreCluster, kind: "Node", plural: "nodes" });
export const PersistentVolume = defineResource<V1PersistentVolume>({
  ...coreCluster,
  kind: "PersistentVolume",
  plural: "persistentvolumes",
});

export const Deployment = defineResource<V1Deployment>({ ...apps, kind: "Deployment", plural: "deployments" });
export const ReplicaSet = defineResource<V1ReplicaSet>({ ...apps, kind: "ReplicaSet", plural: "replicasets" });
export const StatefulSet = defineResource<V1StatefulSet>({ ...apps, kind: "StatefulSet", plural: "statefulsets" });

export const Role = defineResource<V1Role>({ ...rbac, kind: "Role", plural: "roles" });
export const RoleBinding = defineResource<V1RoleBinding>({ ...rbac, kind: "RoleBinding", plural: "rolebindings" });
export const ClusterRole = defineResource<V1ClusterRole>({
  ...rbacCluster,
  kind: "ClusterRole",
  plural: "clusterroles",
});
export const ClusterRoleBinding = defineResource<V1ClusterRoleBinding>({
  ...rbacCluster,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
});

export const MutatingWebhookConfiguration = defineResource<V1MutatingWebhookConfiguration>({
  ...admission,
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
});
export const ValidatingWebhookConfiguration = defineResource<V1ValidatingWebhookConfiguration>({
  ...admission,
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
});

export const CustomResourceDefinition = defineResource<V1CustomResourceDefinition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
});
export const EndpointSlice = defineResource<V1EndpointSlice>({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
});
export const Lease = defineResource<V1Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
});
export const NetworkPolicy = defineResource<V1NetworkPolicy>({
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
});
export const PodDisruptionBudget = defineResource<V1PodDisruptionBudget>({
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
});
export const StorageClass = defineResource<V1StorageClass>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  namespaced: false,
});
