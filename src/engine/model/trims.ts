// What caches keep of an engine's children and pods: the fields that decisions read. The rest would only cost memory.
// Pure.
import type {
  V1ContainerStatus,
  V1ObjectMeta,
  V1Pod,
  V1PodStatus,
  V1Service,
  V1StatefulSet,
} from "../../api/generated/kubernetes.ts";
import { isPodReady } from "../../pods/pod-trouble.ts";

/**
 * Of the status, only whether its controller has observed the present spec: the rest changes often, and no decision
 * reads it.
 */
export function trimStatefulSet({ status, ...rest }: V1StatefulSet): V1StatefulSet {
  if (status === undefined) return rest;
  const { replicas, observedGeneration } = status;
  return { ...rest, status: { replicas, ...(observedGeneration === undefined ? {} : { observedGeneration }) } };
}

export function trimService({ status: _, ...rest }: V1Service): V1Service {
  return rest;
}

/**
 * Labels, identity, owner and deletion; phase, address and conditions; of a pod that is not ready, the cause.
 * Annotations alone can be larger than all of that.
 */
export function trimPod(pod: V1Pod): V1Pod {
  const { spec: _, metadata = {}, status = {}, ...rest } = pod;
  const { phase, podIP, conditions } = status;
  return {
    ...rest,
    metadata: without(metadata, DROPPED_METADATA),
    status: {
      ...(phase === undefined ? {} : { phase }),
      ...(podIP === undefined ? {} : { podIP }),
      ...(conditions === undefined ? {} : { conditions }),
      ...(isPodReady(pod) ? {} : troubleFields(status)),
    },
  };
}

/** Not read by any decision about a pod. */
const DROPPED_METADATA = new Set(["annotations", "managedFields", "finalizers", "generateName"]);

function without(metadata: V1ObjectMeta, dropped: ReadonlySet<string>): V1ObjectMeta {
  return Object.fromEntries(Object.entries(metadata).filter(([field]) => !dropped.has(field)));
}

function troubleFields({
  reason,
  message,
  containerStatuses,
  initContainerStatuses,
}: V1PodStatus): Pick<V1PodStatus, "reason" | "message" | "containerStatuses" | "initContainerStatuses"> {
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(containerStatuses === undefined ? {} : { containerStatuses: containerStatuses.map(trimContainer) }),
    ...(initContainerStatuses === undefined ? {} : { initContainerStatuses: initContainerStatuses.map(trimContainer) }),
  };
}

function trimContainer(status: V1ContainerStatus): V1ContainerStatus {
  const { name, image, ready, restartCount, started, state, lastState } = status;
  return {
    name,
    image,
    imageID: "",
    ready,
    restartCount,
    ...(started === undefined ? {} : { started }),
    ...(state === undefined ? {} : { state }),
    ...(lastState === undefined ? {} : { lastState }),
  };
}
