// The caches that the engine controllers read: what is in them and how it is found. Children are narrowed to objects that carry
// the engine label, and pods to the few fields that readiness and draining need.
import type { DeepReadonly, KubeObject } from "@firebolt-operator/kube";
import type { CacheOptions, ObjectCache } from "@firebolt-operator/kube/cache";
import { FireboltEngine } from "../api/engine.ts";
import { FireboltEngineClass } from "../api/engine-class.ts";
import type {
  V1ConfigMap,
  V1ContainerStatus,
  V1Pod,
  V1PodStatus,
  V1Service,
  V1StatefulSet,
} from "../api/generated/kubernetes.ts";
import { FireboltInstance } from "../api/instance.ts";
import { LABEL } from "../api/labels.ts";
import { isPodReady } from "../pods/pod-trouble.ts";
import { configMaps, pods, services, statefulSets } from "./kinds.ts";

export interface EngineCaches {
  readonly engines: ObjectCache<FireboltEngine>;
  readonly classes: ObjectCache<FireboltEngineClass>;
  readonly instances: ObjectCache<FireboltInstance>;
  readonly statefulSets: ObjectCache<V1StatefulSet>;
  readonly services: ObjectCache<V1Service>;
  readonly configMaps: ObjectCache<V1ConfigMap>;
  readonly pods: ObjectCache<V1Pod>;
}

/** What a cache of this feature asks for; the caller adds the client, the logger and the namespaces. */
export type CacheWish<T extends KubeObject> = Pick<CacheOptions<T>, "type" | "labelSelector" | "indexes" | "trim">;
export type CreateCache = <T extends KubeObject>(wish: CacheWish<T>) => ObjectCache<T>;

export const INDEX = {
  /** Engines by `namespace/instanceRef`. */
  instance: "instance",
  /** Engines by `namespace/engineClassRef`. */
  engineClass: "engineClass",
  /** Children by `namespace/engine`. */
  engine: "engine",
  /** Pods by `namespace/engine/generation`. */
  generation: "generation",
} as const;

export function createEngineCaches(create: CreateCache): EngineCaches {
  const children = { labelSelector: LABEL.engine, indexes: { [INDEX.engine]: engineOfChild } };
  return {
    engines: create<FireboltEngine>({
      type: FireboltEngine,
      indexes: {
        [INDEX.instance]: ({ metadata, spec }) => inNamespace(metadata?.namespace, spec?.instanceRef),
        [INDEX.engineClass]: ({ metadata, spec }) => inNamespace(metadata?.namespace, spec?.engineClassRef),
      },
    }),
    classes: create<FireboltEngineClass>({ type: FireboltEngineClass }),
    instances: create<FireboltInstance>({ type: FireboltInstance }),
    statefulSets: create<V1StatefulSet>({ ...children, type: statefulSets, trim: trimStatefulSet }),
    services: create<V1Service>({ ...children, type: services, trim: trimService }),
    configMaps: create<V1ConfigMap>({ ...children, type: configMaps }),
    pods: create<V1Pod>({
      type: pods,
      labelSelector: LABEL.engine,
      indexes: { [INDEX.generation]: generationOfPod },
      trim: trimPod,
    }),
  };
}

function inNamespace(namespace: string | undefined, name: string | undefined): readonly string[] {
  return name === undefined || name === "" ? [] : [`${namespace}/${name}`];
}

function engineOfChild({ metadata }: DeepReadonly<KubeObject>): readonly string[] {
  return inNamespace(metadata?.namespace, metadata?.labels?.[LABEL.engine]);
}

function generationOfPod(pod: DeepReadonly<V1Pod>): readonly string[] {
  const generation = pod.metadata?.labels?.[LABEL.generation];
  return generation === undefined ? [] : engineOfChild(pod).map((engine) => `${engine}/${generation}`);
}

/** Of the status, only whether its controller has seen the present spec: the rest changes often and nobody decides by it. */
function trimStatefulSet({ status, ...rest }: V1StatefulSet): V1StatefulSet {
  if (status === undefined) return rest;
  const { replicas, observedGeneration } = status;
  return { ...rest, status: { replicas, ...(observedGeneration === undefined ? {} : { observedGeneration }) } };
}

function trimService({ status: _, ...rest }: V1Service): V1Service {
  return rest;
}

/**
 * Labels, identity, owner and deletion; phase, address and conditions; of a pod that is not ready, what says why. Annotations alone can
 * be larger than all of that.
 */
function trimPod(pod: V1Pod): V1Pod {
  const { spec: _, metadata = {}, status = {}, ...rest } = pod;
  const { annotations: __, managedFields: ___, finalizers: ____, generateName: _____, ...identity } = metadata;
  const { phase, podIP, conditions } = status;
  return {
    ...rest,
    metadata: identity,
    status: {
      ...(phase === undefined ? {} : { phase }),
      ...(podIP === undefined ? {} : { podIP }),
      ...(conditions === undefined ? {} : { conditions }),
      ...(isPodReady(pod) ? {} : troubleFields(status)),
    },
  };
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
