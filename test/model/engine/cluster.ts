// What the API server of the model holds: plain values that are replaced, never changed, so that thousands of states share what
// they have in common. Knows what an API server does by itself; nothing of what the operator wants.

import type { DeepReadonly } from "../../../src/api/deep-readonly.ts";
import type { V1ConfigMap, V1ObjectMeta, V1Service, V1StatefulSet } from "../../../src/api/generated/kubernetes.ts";
import type {
  ConfigMap,
  Engine,
  EngineClass,
  Instance,
  Pod,
  Service,
  StatefulSet,
} from "../../../src/engine/children.ts";
import { NAME, NAMESPACE } from "./fixtures.ts";

/** A pod in one word: not started, started but not ready, ready with no query, ready with one, ready with no metrics. */
export type Mood = "pending" | "unready" | "idle" | "busy" | "silent";

/** Pods of one StatefulSet, by ordinal. */
export interface PodGroup {
  readonly moods: readonly Mood[];
  readonly terminating: boolean;
}

export interface Cluster {
  readonly engine: Engine | undefined;
  readonly engineClass: EngineClass | undefined;
  readonly instance: Instance | undefined;
  readonly statefulSets: ReadonlyMap<string, StatefulSet>;
  readonly services: ReadonlyMap<string, Service>;
  readonly configMaps: ReadonlyMap<string, ConfigMap>;
  readonly pods: ReadonlyMap<string, PodGroup>;
  /** The last resourceVersion; also the source of uids. */
  readonly version: number;
}

/** What a watch is about. */
export const KINDS = [
  "engine",
  "engineClass",
  "instance",
  "statefulSets",
  "services",
  "configMaps",
  "pods",
] as const satisfies readonly (keyof Cluster)[];
export type Kind = (typeof KINDS)[number];

export type Metadata = DeepReadonly<V1ObjectMeta>;
type Stored = { readonly metadata?: Metadata };
export type ChildMap = "statefulSets" | "services" | "configMaps";

export const NOW_MS = Date.UTC(2026, 0, 1);
export const TIME = "2025-12-31T23:00:00Z";

/** A cluster in which one more thing has been written. */
export function written(cluster: Cluster, change: Partial<Cluster>): Cluster {
  return { ...cluster, ...change, version: cluster.version + 1 };
}

export function nextVersion(cluster: Cluster): string {
  return String(cluster.version + 1);
}

/** A new object gets an identity. */
export function created<T extends V1ConfigMap | V1Service | V1StatefulSet>(cluster: Cluster, object: T): T {
  const version = nextVersion(cluster);
  const metadata = {
    ...object.metadata,
    uid: `u${version}`,
    resourceVersion: version,
    generation: 1,
    creationTimestamp: TIME,
  };
  return { ...object, metadata };
}

export function withMap<T>(map: ReadonlyMap<string, T>, name: string, value: T | undefined): ReadonlyMap<string, T> {
  const copy = new Map(map);
  if (value === undefined) copy.delete(name);
  else copy.set(name, value);
  return copy;
}

/** The object with other metadata and a version of its own. */
export function touched<T extends Stored>(cluster: Cluster, object: T, metadata: Partial<Metadata> = {}): T {
  return { ...object, metadata: { ...object.metadata, ...metadata, resourceVersion: nextVersion(cluster) } };
}

/** Deletes as the API server does: what holds finalizers stays, marked. */
export function deleted(cluster: Cluster, map: ChildMap, name: string, foreground: boolean): Cluster {
  switch (map) {
    case "statefulSets": {
      const set = cluster.statefulSets.get(name);
      if (set === undefined || set.metadata?.deletionTimestamp !== undefined) return cluster;
      if (!foreground)
        return written(cluster, {
          statefulSets: withMap(cluster.statefulSets, name, undefined),
          pods: withMap(cluster.pods, name, undefined),
        });
      const marked = touched(cluster, set, { deletionTimestamp: TIME, finalizers: ["foregroundDeletion"] });
      const group = cluster.pods.get(name);
      return written(cluster, {
        statefulSets: withMap(cluster.statefulSets, name, marked),
        pods: group === undefined ? cluster.pods : withMap(cluster.pods, name, { ...group, terminating: true }),
      });
    }
    case "services":
      return deletedFrom(cluster, "services", name);
    case "configMaps":
      return deletedFrom(cluster, "configMaps", name);
    default:
      return map satisfies never;
  }
}

function deletedFrom(cluster: Cluster, map: "services" | "configMaps", name: string): Cluster {
  const objects: ReadonlyMap<string, Stored> = cluster[map];
  const object = objects.get(name);
  if (object === undefined || object.metadata?.deletionTimestamp !== undefined) return cluster;
  const held = (object.metadata?.finalizers ?? []).length > 0;
  const next = held ? touched(cluster, object, { deletionTimestamp: TIME }) : undefined;
  return written(cluster, { [map]: withMap(objects, name, next) });
}

const POD_CONDITION = { True: [{ type: "Ready", status: "True" }], False: [{ type: "Ready", status: "False" }] };
const podObjects = new Map<string, Pod>();

/** Pods of a group as objects, each made once. */
export function podObjectsOf(statefulSet: string, { moods, terminating }: PodGroup): readonly Pod[] {
  return moods.map((mood, ordinal) => {
    const id = `${statefulSet}-${ordinal}`;
    const key = `${id}/${mood}/${terminating}`;
    const known = podObjects.get(key);
    if (known !== undefined) return known;
    const made: Pod = {
      metadata: { name: id, namespace: NAMESPACE, ...(terminating ? { deletionTimestamp: TIME } : {}) },
      status: {
        phase: mood === "pending" ? "Pending" : "Running",
        conditions: mood === "pending" || mood === "unready" ? POD_CONDITION.False : POD_CONDITION.True,
      },
    };
    podObjects.set(key, made);
    return made;
  });
}

export const isReadyMood = (mood: Mood): boolean => mood === "idle" || mood === "busy" || mood === "silent";

/** The generation in a child's name; undefined for the routing Service. */
export function generationInName(name: string): number | undefined {
  const digits = name.slice(NAME.length).match(/^-g(\d+)/)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
