// Kubernetes' own kinds, typed: `client.list(Pod)` returns V1Pod objects. For any other kind use `defineResource`.
import type { KubeObject } from "../core/object.ts";
import { defineResource, type ResourceType } from "../core/resource.ts";
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

/** All are v1. Called with string literals only, so that a bundle drops the kinds it does not use. */
// @__NO_SIDE_EFFECTS__
function namespaced<T extends KubeObject>(group: string, kind: string, plural: string): ResourceType<T> {
  return defineResource({ group, version: "v1", kind, plural, namespaced: true });
}
// @__NO_SIDE_EFFECTS__
function clusterWide<T extends KubeObject>(group: string, kind: string, plural: string): ResourceType<T> {
  return defineResource({ group, version: "v1", kind, plural, namespaced: false });
}

/** `v1`, namespaced. */
export const ConfigMap = namespaced<V1ConfigMap>("", "ConfigMap", "configmaps");
/** The legacy group of events, which `kubectl describe` reads; the recorder writes to `events.k8s.io`. */
export const CoreEvent = namespaced<CoreV1Event>("", "Event", "events");
/** `v1`, namespaced. */
export const PersistentVolumeClaim = namespaced<V1PersistentVolumeClaim>(
  "",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);
/** `v1`, namespaced. */
export const Pod = namespaced<V1Pod>("", "Pod", "pods");
/** `v1`, namespaced. */
export const Secret = namespaced<V1Secret>("", "Secret", "secrets");
/** `v1`, namespaced. */
export const Service = namespaced<V1Service>("", "Service", "services");
/** `v1`, namespaced. */
export const ServiceAccount = namespaced<V1ServiceAccount>("", "ServiceAccount", "serviceaccounts");
/** `v1`, cluster-scoped. */
export const Namespace = clusterWide<V1Namespace>("", "Namespace", "namespaces");
/** `v1`, cluster-scoped. */
export const Node = clusterWide<V1Node>("", "Node", "nodes");
/** `v1`, cluster-scoped. */
export const PersistentVolume = clusterWide<V1PersistentVolume>("", "PersistentVolume", "persistentvolumes");

/** `apps/v1`, namespaced. */
export const Deployment = namespaced<V1Deployment>("apps", "Deployment", "deployments");
/** `apps/v1`, namespaced. */
export const ReplicaSet = namespaced<V1ReplicaSet>("apps", "ReplicaSet", "replicasets");
/** `apps/v1`, namespaced. */
export const StatefulSet = namespaced<V1StatefulSet>("apps", "StatefulSet", "statefulsets");

/** `rbac.authorization.k8s.io/v1`, namespaced. */
export const Role = namespaced<V1Role>("rbac.authorization.k8s.io", "Role", "roles");
/** `rbac.authorization.k8s.io/v1`, namespaced. */
export const RoleBinding = namespaced<V1RoleBinding>("rbac.authorization.k8s.io", "RoleBinding", "rolebindings");
/** `rbac.authorization.k8s.io/v1`, cluster-scoped. */
export const ClusterRole = clusterWide<V1ClusterRole>("rbac.authorization.k8s.io", "ClusterRole", "clusterroles");
/** `rbac.authorization.k8s.io/v1`, cluster-scoped. */
export const ClusterRoleBinding = clusterWide<V1ClusterRoleBinding>(
  "rbac.authorization.k8s.io",
  "ClusterRoleBinding",
  "clusterrolebindings",
);

/** `admissionregistration.k8s.io/v1`, cluster-scoped. */
export const MutatingWebhookConfiguration = clusterWide<V1MutatingWebhookConfiguration>(
  "admissionregistration.k8s.io",
  "MutatingWebhookConfiguration",
  "mutatingwebhookconfigurations",
);
/** `admissionregistration.k8s.io/v1`, cluster-scoped. */
export const ValidatingWebhookConfiguration = clusterWide<V1ValidatingWebhookConfiguration>(
  "admissionregistration.k8s.io",
  "ValidatingWebhookConfiguration",
  "validatingwebhookconfigurations",
);

/** `apiextensions.k8s.io/v1`, cluster-scoped. */
export const CustomResourceDefinition = clusterWide<V1CustomResourceDefinition>(
  "apiextensions.k8s.io",
  "CustomResourceDefinition",
  "customresourcedefinitions",
);
/** `coordination.k8s.io/v1`, namespaced. */
export const Lease = namespaced<V1Lease>("coordination.k8s.io", "Lease", "leases");
/** `discovery.k8s.io/v1`, namespaced. */
export const EndpointSlice = namespaced<V1EndpointSlice>("discovery.k8s.io", "EndpointSlice", "endpointslices");
/** `networking.k8s.io/v1`, namespaced. */
export const NetworkPolicy = namespaced<V1NetworkPolicy>("networking.k8s.io", "NetworkPolicy", "networkpolicies");
/** `policy/v1`, namespaced. */
export const PodDisruptionBudget = namespaced<V1PodDisruptionBudget>(
  "policy",
  "PodDisruptionBudget",
  "poddisruptionbudgets",
);
/** `storage.k8s.io/v1`, cluster-scoped. */
export const StorageClass = clusterWide<V1StorageClass>("storage.k8s.io", "StorageClass", "storageclasses");
