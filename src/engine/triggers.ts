// Which engines an event concerns (docs/design/engine.md#one-pass). Status-only changes of an engine, changes that no decision
// reads and the last days of a generation that is left behind start no pass: otherwise the operator's own writes would keep it busy
// for ever.
import { isDeepStrictEqual } from "node:util";
import { type DeepReadonly, formatKey, type KubeObject, type ObjectKey } from "@firebolt-operator/kube";
import type { CacheEvent, ObjectCache } from "@firebolt-operator/kube/cache";
import type { FireboltEngine } from "../api/engine.ts";
import type { FireboltEngineClass } from "../api/engine-class.ts";
import type { V1Pod, V1StatefulSet } from "../api/generated/kubernetes.ts";
import { isEnding } from "../api/held-deletion.ts";
import type { FireboltInstance } from "../api/instance.ts";
import { LABEL } from "../api/labels.ts";
import { podTrouble } from "../pods/pod-trouble.ts";
import { generationLabel } from "./children.ts";
import { INDEX } from "./engine-caches.ts";
import { generationsOf } from "./stored-state.ts";

type Keys = readonly ObjectKey[];
type Engines = ObjectCache<FireboltEngine>;

export function engineOfEngineEvent(event: CacheEvent<FireboltEngine>): Keys {
  return differs(event, ({ metadata }) => [
    metadata?.generation,
    metadata?.annotations,
    metadata?.labels,
    metadata?.finalizers,
    metadata?.deletionTimestamp,
  ])
    ? [keyOfStored(event.object)]
    : [];
}

/** By label, not by owner: an object of an older engine of the same name stands in the way of this one until it goes. */
export function engineOfChildEvent<T extends KubeObject>(event: CacheEvent<T>): Keys {
  const keys = [event.object, event.previous].flatMap((object) => (object === undefined ? [] : engineOfLabels(object)));
  return keys.filter((key, index) => keys.findIndex((other) => formatKey(other) === formatKey(key)) === index);
}

/** A pass that writes a Service or a ConfigMap says by itself when to look again. */
export function engineOfPartEvent<T extends KubeObject>(event: CacheEvent<T>): Keys {
  return event.origin === "write" ? [] : engineOfChildEvent(event);
}

export function engineOfStatefulSetEvent(event: CacheEvent<V1StatefulSet>): Keys {
  // Of one that was just made its pods will tell, unless there will be none.
  if (event.type === "added" && event.origin === "write" && event.object.spec?.replicas !== 0) return [];
  // Its status is not read: pods are counted by themselves.
  const read = ({ metadata }: DeepReadonly<V1StatefulSet>) => [
    metadata?.uid,
    metadata?.generation,
    metadata?.labels,
    metadata?.annotations,
    metadata?.ownerReferences,
    metadata?.deletionTimestamp,
  ];
  return differs(event, read) ? engineOfChildEvent(event) : [];
}

export function engineOfPodEvent(event: CacheEvent<V1Pod>): Keys {
  const read = ({ metadata = {}, status = {} }: DeepReadonly<V1Pod>) => [
    metadata.uid,
    metadata.labels,
    metadata.deletionTimestamp === undefined,
    status.phase,
    status.conditions?.find(({ type }) => type === "Ready")?.status,
    // Not what a healthy pod passes through while it starts: a pass sets the time for that by itself.
    podTrouble({ metadata, status }, 0)?.cause,
  ];
  return differs(event, read) ? engineOfChildEvent(event) : [];
}

/** Leaves out what nobody waits for: the end of objects whose generation their engine has left behind. */
export const exceptLeftBehind =
  <T extends KubeObject>(engines: Engines, mapping: (event: CacheEvent<T>) => Keys) =>
  (event: CacheEvent<T>): Keys => {
    const { metadata } = event.object;
    if (event.type !== "deleted" && metadata?.deletionTimestamp === undefined) return mapping(event);
    const generation = generationLabel(metadata);
    return mapping(event).filter((key) => {
      const engine = engines.get(key);
      return generation === undefined || engine === undefined || !isLeftBehind(engine, generation);
    });
  };

/** Of an engine that is itself on its way out everything counts: its deletion waits for children. */
function isLeftBehind(engine: DeepReadonly<FireboltEngine>, generation: number): boolean {
  const { current, active, draining, highest } = generationsOf(engine);
  const isSuperseded =
    generation <= highest && generation !== current && generation !== active && generation !== draining;
  return isSuperseded && engine.metadata?.deletionTimestamp === undefined;
}

export const enginesOfInstanceEvent =
  (engines: Engines) =>
  (event: CacheEvent<FireboltInstance>): Keys => {
    const read = (instance: DeepReadonly<FireboltInstance>) => [
      isEnding(instance),
      instance.spec?.id,
      instance.spec?.metricScrapeMode,
      instance.status?.metadataEndpoint,
    ];
    return differs(event, read) ? enginesBy(engines, INDEX.instance, event.object) : [];
  };

export const enginesOfClassEvent =
  (engines: Engines) =>
  (event: CacheEvent<FireboltEngineClass>): Keys => {
    // Not the count of bound engines: it changes with every engine, and would wake all of them each time.
    const read = ({ metadata, status }: DeepReadonly<FireboltEngineClass>) => {
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      return [metadata?.uid, metadata?.generation, ready?.status, ready?.reason, ready?.message];
    };
    return differs(event, read) ? enginesBy(engines, INDEX.engineClass, event.object) : [];
  };

function enginesBy(engines: Engines, index: string, object: DeepReadonly<KubeObject>): Keys {
  return engines.byIndex(index, formatKey(keyOfStored(object))).map(keyOfStored);
}

/** Whether the event changes what `read` sees. Objects that come or go always do. */
function differs<T extends KubeObject>(
  event: CacheEvent<T>,
  read: (object: DeepReadonly<T>) => readonly unknown[],
): boolean {
  const { type, object, previous } = event;
  return type !== "modified" || previous === undefined || !isDeepStrictEqual(read(object), read(previous));
}

function keyOfStored({ metadata }: DeepReadonly<KubeObject>): ObjectKey {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}

function engineOfLabels({ metadata }: DeepReadonly<KubeObject>): Keys {
  const name = metadata?.labels?.[LABEL.engine];
  const { namespace } = metadata ?? {};
  return name === undefined || name === "" || namespace === undefined ? [] : [{ namespace, name }];
}
