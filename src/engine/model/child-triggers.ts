// Which events of an engine's children and pods trigger a reconcile. Changes that no decision reads do not: otherwise
// the operator's own writes would keep it busy for ever. Pure.
import { isDeepStrictEqual } from "node:util";
import type { DeepReadonly, KubeObject } from "@firebolt-operator/kube";
import type { CacheEvent } from "@firebolt-operator/kube/cache";
import type { V1Pod, V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { podTrouble } from "../../pods/pod-trouble.ts";

/** A pass that writes a Service or a ConfigMap sets the time of its own requeue. */
export function isForeignChange<T extends KubeObject>(event: CacheEvent<T>): boolean {
  return event.origin !== "write";
}

export function isStatefulSetChange(event: CacheEvent<V1StatefulSet>): boolean {
  // A StatefulSet that the operator just created is followed by pod events, unless it has no replicas.
  if (event.type === "added" && event.origin === "write" && event.object.spec?.replicas !== 0) return false;
  // Its status is not read: pods are counted by themselves.
  return differs(event, ({ metadata }: DeepReadonly<V1StatefulSet>) => [
    metadata?.uid,
    metadata?.generation,
    metadata?.labels,
    metadata?.annotations,
    metadata?.ownerReferences,
    metadata?.deletionTimestamp,
  ]);
}

export function isPodChange(event: CacheEvent<V1Pod>): boolean {
  return differs(event, ({ metadata = {}, status = {} }: DeepReadonly<V1Pod>) => [
    metadata.uid,
    metadata.labels,
    metadata.deletionTimestamp === undefined,
    status.phase,
    status.conditions?.find(({ type }) => type === "Ready")?.status,
    // Not what a healthy pod passes through while it starts: a pass sets the time of that requeue itself.
    podTrouble({ metadata, status }, 0)?.cause,
  ]);
}

/** Whether the event changes what `read` returns. Added and deleted objects always do. */
export function differs<T extends KubeObject>(
  event: CacheEvent<T>,
  read: (object: DeepReadonly<T>) => readonly unknown[],
): boolean {
  const { type, object, previous } = event;
  return type !== "modified" || previous === undefined || !isDeepStrictEqual(read(object), read(previous));
}
