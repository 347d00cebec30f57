// Maps events to instances. Changes that no decision reads trigger no reconcile: otherwise the operator's own writes
// would keep it busy forever.
import { isDeepStrictEqual } from "node:util";
import { type DeepReadonly, formatKey, type KubeObject, type ObjectKey } from "@firebolt-operator/kube";
import type { CacheEvent, ObjectCache } from "@firebolt-operator/kube/cache";
import { type WatchSource, watch } from "@firebolt-operator/kube/controller";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { LABEL } from "../../api/labels.ts";
import type { ChildCaches, InstanceCaches } from "./instance-caches.ts";

type Keys = readonly ObjectKey[];

/** A status written by others counts (a person may reset the phase); the operator's own does not. */
export function instanceOfInstanceEvent(event: CacheEvent<FireboltInstance>): Keys {
  const read = ({ metadata, status }: DeepReadonly<FireboltInstance>) => [
    metadata?.uid,
    metadata?.generation,
    metadata?.annotations,
    metadata?.finalizers,
    metadata?.deletionTimestamp,
    ...(event.origin === "watch" ? [status] : []),
  ];
  const { namespace = "", name = "" } = event.object.metadata ?? {};
  return differs(event, read) ? [{ namespace, name }] : [];
}

/** By label, not by owner: an object of an earlier instance of the same name blocks this one until it is deleted. */
export function instanceOfChildEvent<T extends KubeObject>(event: CacheEvent<T>): Keys {
  if (!differs(event, (object) => [withoutVersion(object)])) return [];
  const keys = [event.object, event.previous].flatMap((object) =>
    object === undefined ? [] : instanceOfLabels(object),
  );
  return keys.filter((key, index) => keys.findIndex((other) => formatKey(other) === formatKey(key)) === index);
}

/**
 * A watch per cache. Not `owns()`: that finds an instance by owner, and a child whose owner is an earlier instance of
 * the same name has to trigger a reconcile of this one when it is deleted.
 */
export function childWatches(children: ChildCaches): readonly WatchSource[] {
  const caches: readonly ObjectCache<KubeObject>[] = Object.values(children);
  return caches.map((cache) => watch(cache, instanceOfChildEvent));
}

/** Engines matter only to an instance that is being deleted, when the last one in the cache no longer refers to it. */
export function instanceReleasedBy(
  { type, object, previous }: CacheEvent<FireboltEngine>,
  { instances, engines }: Pick<InstanceCaches, "instances" | "engines">,
): Keys {
  const [namespace = "", name] = [object.metadata?.namespace, (previous ?? object).spec?.instanceRef];
  const isLeft = type === "deleted" || object.spec?.instanceRef !== name;
  if (!isLeft || name === undefined || name === "") return [];
  const key = { namespace, name };
  if (instances.get(key)?.metadata?.deletionTimestamp === undefined) return [];
  return engines.list(namespace).some(({ spec }) => spec?.instanceRef === name) ? [] : [key];
}

/** Whether the event changes what `read` returns. Additions and deletions always do. */
function differs<T extends KubeObject>(
  { type, object, previous }: CacheEvent<T>,
  read: (object: DeepReadonly<T>) => readonly unknown[],
): boolean {
  return type !== "modified" || previous === undefined || !isDeepStrictEqual(read(object), read(previous));
}

/** Every write changes the version, also those of fields that the cache does not keep. */
function withoutVersion(object: DeepReadonly<KubeObject>): unknown {
  const { metadata, ...rest } = object;
  const { resourceVersion: _, ...kept } = metadata ?? {};
  return [kept, rest];
}

function instanceOfLabels({ metadata }: DeepReadonly<KubeObject>): Keys {
  const name = metadata?.labels?.[LABEL.instance];
  const { namespace } = metadata ?? {};
  return name === undefined || name === "" || namespace === undefined ? [] : [{ namespace, name }];
}
