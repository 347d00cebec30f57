// What the API server of the model holds: plain values that are replaced, never changed, so that thousands of states
// share what they have in common. Implements what an API server does on its own, and nothing of the operator.

import type { V1ObjectMeta } from "../../../src/api/generated/kubernetes.ts";
import { LABEL } from "../../../src/api/labels.ts";
import type { DeepReadonly } from "../../../src/api/values/deep-readonly.ts";
import { CHILD_KINDS, type ChildKind, type ChildOf, type ChildTypes } from "../../../src/engine/model/child-kinds.ts";
import type { Engine, EngineClass, Instance, Pod } from "../../../src/engine/model/children.ts";
import { routingServiceName } from "../../../src/engine/model/names.ts";
import { NAME, NAMESPACE } from "./fixtures.ts";

/**
 * The state of a pod: not started; ready with no query, with one, without metrics; the same three while its readiness
 * probe fails, as it does under a heavy query; deleted by itself.
 */
export type Mood = "pending" | "idle" | "busy" | "silent" | "unready" | "unreadyBusy" | "unreadySilent" | "gone";

/** Pods of one StatefulSet, by ordinal. */
export interface PodGroup {
  readonly moods: readonly Mood[];
  readonly terminating: boolean;
  /** Their StatefulSet was deleted without them: no controller owns them. */
  readonly orphaned?: true;
}

/** What is the same for a whole exploration. */
export interface Settings {
  /** `--drain-settle`. */
  readonly settleMs: number;
  /** How far the clock advances in one step. */
  readonly tickMs: number;
  /**
   * Whether results of probes are remembered, as the prober does, and clients use stale addresses until the settle time
   * has passed.
   */
  readonly remembers: boolean;
}

/** What the pods of a generation were found to run, and when they were probed. */
export interface Probed {
  readonly moods: readonly Mood[];
  readonly atMs: number;
}

/** Where objects of a kind are stored: `StatefulSet` in `statefulSets`. */
type MapOf<K extends ChildKind> = `${Uncapitalize<K>}s`;
export type ChildMaps = { readonly [K in ChildKind as MapOf<K>]: ReadonlyMap<string, ChildOf<K>> };
export type ChildMap = keyof ChildMaps;

export const mapOf = (kind: ChildKind): ChildMap => `${kind.charAt(0).toLowerCase()}${kind.slice(1)}s` as ChildMap;
/** In the order of the declarations. */
export const CHILD_MAPS: readonly ChildMap[] = CHILD_KINDS.map(mapOf);
const NAMES_OF_MAPS: ReadonlySet<string> = new Set(CHILD_MAPS);
export const isChildMap = (name: string): name is ChildMap => NAMES_OF_MAPS.has(name);

/** One map per kind; a value and its key come from the same entry. */
export function childMaps(of: (map: ChildMap) => ReadonlyMap<string, Stored>): ChildMaps {
  return Object.fromEntries(CHILD_MAPS.map((map) => [map, of(map)])) as ChildMaps;
}

export interface Cluster extends ChildMaps {
  readonly engine: Engine | undefined;
  readonly engineClass: EngineClass | undefined;
  readonly instance: Instance | undefined;
  readonly pods: ReadonlyMap<string, PodGroup>;
  readonly nowMs: number;
  readonly settings: Settings;
  /** A kind that may not be written: a policy, a quota. */
  readonly forbidden: ChildMap | undefined;
  /**
   * Only where results are remembered: by StatefulSet, the last probe and the last moment at which queries were routed
   * there.
   */
  readonly probes: ReadonlyMap<string, Probed>;
  readonly routedMs: ReadonlyMap<string, number>;
  /** The version of the engine that the leading process stored last; undefined after another one was elected. */
  readonly storedBy: string | undefined;
  /** The highest generation number that this engine has ever had; no rule of the operator reads it. */
  readonly used: number;
  /** The last resourceVersion; also the source of uids. */
  readonly version: number;
}

/** What a watch is about. */
export type Kind = "engine" | "engineClass" | "instance" | ChildMap | "pods";
export const KINDS: readonly Kind[] = ["engine", "engineClass", "instance", ...CHILD_MAPS, "pods"];

export type Metadata = DeepReadonly<V1ObjectMeta>;
export type Stored = { readonly metadata?: Metadata };

export const NOW_MS = Date.UTC(2026, 0, 1);
export const TIME = "2025-12-31T23:00:00Z";
/** Longer than everything that anything waits for, and than anything is remembered. */
export const LONG_MS = 11 * 60_000;
/** How long the prober keeps a result that no pass has read. */
export const PROBE_KEPT_MS = 60_000;

/** A cluster in which one more thing has been written. */
export function written(cluster: Cluster, change: Partial<Cluster>): Cluster {
  const next = { ...cluster, ...change, version: cluster.version + 1 };
  if (!cluster.settings.remembers || change.services === undefined) return next;
  const [before, now] = [routedSet(cluster), routedSet(next)];
  return before === undefined || before === now
    ? next
    : { ...next, routedMs: withMap(cluster.routedMs, before, cluster.nowMs) };
}

/** The StatefulSet that the routing Service selects. */
export function routedSet({ services }: Pick<Cluster, "services">): string | undefined {
  const target = services.get(routingServiceName(NAME))?.spec?.selector?.[LABEL.generation];
  return target === undefined ? undefined : `${NAME}-g${target}`;
}

export function nextVersion(cluster: Cluster): string {
  return String(cluster.version + 1);
}

/** A new object gets an identity. */
export function created<T extends ChildTypes[ChildKind]>(cluster: Cluster, object: T): T {
  const version = nextVersion(cluster);
  const metadata = {
    ...object.metadata,
    uid: `u${version}`,
    resourceVersion: version,
    generation: 1,
    creationTimestamp: new Date(cluster.nowMs).toISOString(),
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

export type Propagation = "background" | "foreground" | "orphan";

/** Deletes as the API server does: what holds finalizers stays, marked. */
export function deleted(cluster: Cluster, map: ChildMap, name: string, propagation: Propagation): Cluster {
  if (map !== "statefulSets") return deletedFrom(cluster, map, name);
  const set = cluster.statefulSets.get(name);
  if (set === undefined || set.metadata?.deletionTimestamp !== undefined) return cluster;
  if (propagation !== "foreground") {
    const left = propagation === "orphan" ? cluster.pods.get(name) : undefined;
    return written(cluster, {
      statefulSets: withMap(cluster.statefulSets, name, undefined),
      pods: withMap(cluster.pods, name, left === undefined ? undefined : { ...left, orphaned: true }),
    });
  }
  const marked = touched(cluster, set, { deletionTimestamp: TIME, finalizers: ["foregroundDeletion"] });
  const group = cluster.pods.get(name);
  return written(cluster, {
    statefulSets: withMap(cluster.statefulSets, name, marked),
    pods: group === undefined ? cluster.pods : withMap(cluster.pods, name, { ...group, terminating: true }),
  });
}

function deletedFrom(cluster: Cluster, map: ChildMap, name: string): Cluster {
  const objects: ReadonlyMap<string, Stored> = cluster[map];
  const object = objects.get(name);
  if (object === undefined || object.metadata?.deletionTimestamp !== undefined) return cluster;
  const held = (object.metadata?.finalizers ?? []).length > 0;
  const next = held ? touched(cluster, object, { deletionTimestamp: TIME }) : undefined;
  return written(cluster, { [map]: withMap(objects, name, next) });
}

/** A pod that no controller owns is deleted by itself. */
export function withoutPod(cluster: Cluster, pod: string): Cluster {
  const [set, ordinal] = placeOf(pod);
  const group = cluster.pods.get(set);
  if (group === undefined || (group.moods[ordinal] ?? "gone") === "gone") return cluster;
  const moods = group.moods.with(ordinal, "gone");
  const left = moods.every((mood) => mood === "gone") ? undefined : { ...group, moods };
  return written(cluster, { pods: withMap(cluster.pods, set, left) });
}

/** StatefulSet and ordinal of a pod. */
export function placeOf(pod: string): readonly [string, number] {
  const at = pod.lastIndexOf("-");
  return [pod.slice(0, at), Number(pod.slice(at + 1))];
}

const POD_CONDITION = { True: [{ type: "Ready", status: "True" }], False: [{ type: "Ready", status: "False" }] };
const podObjects = new Map<string, Pod>();

/** Pods of a group as objects, each made once. */
export function podObjectsOf(statefulSet: string, { moods, terminating, orphaned }: PodGroup): readonly Pod[] {
  return moods.flatMap((mood, ordinal) => {
    if (mood === "gone") return [];
    const id = `${statefulSet}-${ordinal}`;
    const key = `${id}/${mood}/${terminating}/${orphaned}`;
    const known = podObjects.get(key);
    if (known !== undefined) return [known];
    const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: statefulSet, uid: "set", controller: true };
    const made: Pod = {
      metadata: {
        name: id,
        namespace: NAMESPACE,
        uid: `pod-${id}`,
        labels: { [LABEL.engine]: NAME, [LABEL.generation]: String(generationInName(statefulSet) ?? "") },
        ...(terminating ? { deletionTimestamp: TIME } : {}),
        ...(orphaned ? {} : { ownerReferences: [owner] }),
      },
      status: {
        phase: mood === "pending" ? "Pending" : "Running",
        conditions: isReadyMood(mood) ? POD_CONDITION.True : POD_CONDITION.False,
      },
    };
    podObjects.set(key, made);
    return [made];
  });
}

export const isReadyMood = (mood: Mood): boolean => mood === "idle" || mood === "busy" || mood === "silent";
/** Whether the pod runs a query, or could unnoticed. */
export const isBusyMood = (mood: Mood): boolean => !["pending", "idle", "unready", "gone"].includes(mood);

/** The generation in a child's name; undefined for the routing Service. */
export function generationInName(name: string): number | undefined {
  const digits = name.slice(NAME.length).match(/^-g(\d+)/)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
