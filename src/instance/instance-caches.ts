// The caches that the instance controller reads: objects that carry the instance label, reduced to what is compared or decided
// by. Of Secrets only the metadata is watched: their contents never reach this process that way.
import type { KubeObject } from "@firebolt-operator/kube";
import type { CacheOptions, ObjectCache } from "@firebolt-operator/kube/cache";
import { FireboltEngine } from "../api/engine.ts";
import type { V1ConfigMap, V1Deployment, V1PersistentVolumeClaim, V1StatefulSet } from "../api/generated/kubernetes.ts";
import { FireboltInstance } from "../api/instance.ts";
import { LABEL } from "../api/labels.ts";
import type { AppliedKind, ChildTypes } from "./children.ts";
import { digestData } from "./drift/config-map-digest.ts";
import { KINDS, SECRET_METADATA } from "./kinds.ts";

export type ChildCaches = { readonly [K in Exclude<AppliedKind, "Role">]: ObjectCache<ChildTypes[K]> } & {
  /** Absent where gateways are bound to a ClusterRole: the operator then has no right on Roles. */
  readonly Role?: ObjectCache<ChildTypes["Role"]>;
};

export interface InstanceCaches {
  readonly instances: ObjectCache<FireboltInstance>;
  readonly children: ChildCaches;
  /** Only whether there are any that name an instance which is being deleted. */
  readonly engines: ObjectCache<FireboltEngine>;
  /** Of the built-in PostgreSQL. */
  readonly claims: ObjectCache<V1PersistentVolumeClaim>;
  /** Credentials of the built-in PostgreSQL, without contents. */
  readonly secrets: ObjectCache<KubeObject>;
}

/** What a cache of this feature asks for; the caller adds the client, the logger and the namespaces. */
export type CacheWish<T extends KubeObject> = Pick<CacheOptions<T>, "type" | "labelSelector" | "trim">;
export type CreateCache = <T extends KubeObject>(wish: CacheWish<T>) => ObjectCache<T>;

export interface InstanceCachesOptions {
  /** Default true. */
  readonly roles?: boolean;
  /** Shared with whoever else reads engines. */
  readonly engines?: ObjectCache<FireboltEngine>;
}

/** `instances` is shared with whoever else reads instances; the others are this controller's alone. */
export function createInstanceCaches(
  create: CreateCache,
  instances: ObjectCache<FireboltInstance> = create<FireboltInstance>({ type: FireboltInstance }),
  { roles = true, engines = create<FireboltEngine>({ type: FireboltEngine }) }: InstanceCachesOptions = {},
): InstanceCaches {
  const child = <K extends AppliedKind>(kind: K, trim: (object: ChildTypes[K]) => ChildTypes[K]) =>
    create<ChildTypes[K]>({ type: KINDS[kind], labelSelector: LABEL.instance, trim });
  return {
    instances,
    engines,
    claims: create({ type: KINDS.PersistentVolumeClaim, labelSelector: LABEL.instance, trim: withoutStatus }),
    // The operator's own writes come back whole, and are merged into caches.
    secrets: create({ type: SECRET_METADATA, labelSelector: LABEL.instance, trim: metadataAlone }),
    children: {
      StatefulSet: child("StatefulSet", trimStatefulSet),
      Deployment: child("Deployment", trimDeployment),
      Service: child("Service", withoutStatus),
      ConfigMap: child("ConfigMap", trimConfigMap),
      PodDisruptionBudget: child("PodDisruptionBudget", withoutStatus),
      ServiceAccount: child("ServiceAccount", same),
      RoleBinding: child("RoleBinding", same),
      ...(roles ? { Role: child("Role", same) } : {}),
    },
  };
}

const same = <T>(object: T): T => object;

function metadataAlone({ metadata }: KubeObject): KubeObject {
  return metadata === undefined ? {} : { metadata };
}

/** Nobody decides by it, and it is what changes most. */
function withoutStatus<T extends { status?: unknown }>(object: T): T {
  const { status: _, ...rest } = object;
  return rest as T;
}

/** Whether its pod is ready, and nothing that changes more often. */
export function trimStatefulSet(statefulSet: V1StatefulSet): V1StatefulSet {
  if (statefulSet.status === undefined) return statefulSet;
  const { replicas, readyReplicas = 0 } = statefulSet.status;
  return { ...statefulSet, status: { replicas, readyReplicas } };
}

/** The numbers that readiness goes by. */
export function trimDeployment(deployment: V1Deployment): V1Deployment {
  if (deployment.status === undefined) return deployment;
  const { conditions: _, collisionCount: __, ...status } = deployment.status;
  return { ...deployment, status };
}

export function trimConfigMap({ binaryData: _, data, ...rest }: V1ConfigMap): V1ConfigMap {
  return data === undefined ? rest : { ...rest, data: digestData(data) };
}
