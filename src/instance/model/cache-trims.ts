// What the caches keep of an object: everything that is compared or decided by, and nothing that only changes often.
// Pure.
import type { KubeObject } from "@firebolt-operator/kube";
import type { V1ConfigMap, V1Deployment, V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { digestData } from "./config-map-digest.ts";

export const same = <T>(object: T): T => object;

/** The operator's own writes are merged into caches whole, also where a watch brings metadata alone. */
export function metadataAlone({ metadata }: KubeObject): KubeObject {
  return metadata === undefined ? {} : { metadata };
}

/** No decision reads the status, and it changes most often. */
export function withoutStatus<T extends { status?: unknown }>(object: T): T {
  const { status: _, ...rest } = object;
  return rest as T;
}

/** Whether its pod is ready, and nothing that changes more often. */
export function trimStatefulSet(statefulSet: V1StatefulSet): V1StatefulSet {
  if (statefulSet.status === undefined) return statefulSet;
  const { replicas, readyReplicas = 0 } = statefulSet.status;
  return { ...statefulSet, status: { replicas, readyReplicas } };
}

/** The counts that readiness is computed from. */
export function trimDeployment(deployment: V1Deployment): V1Deployment {
  if (deployment.status === undefined) return deployment;
  const { conditions: _, collisionCount: __, ...status } = deployment.status;
  return { ...deployment, status };
}

/** Digests in place of the values, which are large and only compared. */
export function trimConfigMap({ binaryData: _, data, ...rest }: V1ConfigMap): V1ConfigMap {
  return data === undefined ? rest : { ...rest, data: digestData(data) };
}
