// What Kubernetes and patient people do by themselves: pods start, queries end, deleted things vanish, instance and
// class come back. A fair run takes every such step sooner or later.
import { controllerUid } from "../../../src/engine/model/children.ts";
import {
  CHILD_MAPS,
  type Cluster,
  childMaps,
  generationInName,
  isBusyMood,
  isReadyMood,
  type Mood,
  routedSet,
  type Stored,
  touched,
  withMap,
  written,
} from "./cluster.ts";
import { CLASSES, OPEN_INSTANCE } from "./fixtures.ts";

export interface Step {
  readonly label: string;
  readonly cluster: Cluster;
}

export function fairSteps(cluster: Cluster): readonly Step[] {
  return [...fairStepsOfPods(cluster), ...recoveries(cluster)];
}

/** Takes every fair step there is, until there is none. */
export function settled(cluster: Cluster, steps: (cluster: Cluster) => readonly Step[] = fairSteps): Cluster {
  let now = cluster;
  for (let next = steps(now)[0]; next !== undefined; next = steps(now)[0]) now = next.cluster;
  return now;
}

/** Everything but instance and class, which stay as they are. */
export function fairStepsOfPods(cluster: Cluster): readonly Step[] {
  return [
    ...podSteps(cluster),
    ...orphanSteps(cluster),
    ...endings(cluster),
    ...collections(cluster),
    ...strangersGone(cluster),
    ...probings(cluster),
  ];
}

export function withMoods(cluster: Cluster, set: string, moods: readonly Mood[]): Cluster {
  const group = cluster.pods.get(set);
  const pods = withMap(cluster.pods, set, { terminating: false, ...group, moods });
  const statefulSet = cluster.statefulSets.get(set);
  const before = group?.moods ?? [];
  const isCounted =
    before.length === moods.length &&
    moods.every((mood, at) => isReadyMood(mood) === isReadyMood(before[at] ?? "gone"));
  // Kubernetes counts ready pods in the StatefulSet's status, so its version moves with their number.
  if (statefulSet === undefined || isCounted) return written(cluster, { pods });
  return written(cluster, {
    statefulSets: withMap(cluster.statefulSets, set, touched(cluster, statefulSet)),
    pods,
  });
}

/** The clock advances. */
export function later(cluster: Cluster, ms = cluster.settings.tickMs): Cluster {
  return { ...cluster, nowMs: cluster.nowMs + ms };
}

function* podSteps(cluster: Cluster): Generator<Step> {
  for (const [name, set] of cluster.statefulSets) {
    if (set.metadata?.deletionTimestamp !== undefined) continue;
    const wanted = set.spec?.replicas ?? 1;
    const { moods = [], orphaned } = cluster.pods.get(name) ?? {};
    if (orphaned === true) continue;
    if (moods.length !== wanted || !moods.every(isReadyMood)) {
      const started = Array.from({ length: wanted }, (_, ordinal): Mood => {
        const mood = moods[ordinal];
        return mood !== undefined && isReadyMood(mood) ? mood : "idle";
      });
      yield { label: `the pods of ${name} become ready`, cluster: withMoods(cluster, name, started) };
    } else if (moods.some((mood) => mood !== "idle"))
      yield {
        label: `the queries on ${name} end`,
        cluster: withMoods(
          cluster,
          name,
          moods.map((): Mood => "idle"),
        ),
      };
  }
}

/** Queries on pods without an owner end like others; nothing starts such a pod again. */
function* orphanSteps(cluster: Cluster): Generator<Step> {
  for (const [name, { moods, orphaned }] of cluster.pods)
    if (orphaned === true && moods.some(isBusyMood)) {
      const ended = moods.map((mood): Mood => (isBusyMood(mood) ? (isReadyMood(mood) ? "idle" : "unready") : mood));
      yield { label: `the queries on ${name} end`, cluster: withMoods(cluster, name, ended) };
    }
}

/** The prober probes pods at any moment; its result is from that moment. */
function* probings(cluster: Cluster): Generator<Step> {
  if (!cluster.settings.remembers) return;
  const { drainingGeneration } = cluster.engine?.status ?? {};
  for (const [name, { moods }] of cluster.pods) {
    if (generationInName(name) !== drainingGeneration) continue;
    const known = cluster.probes.get(name);
    const isNews =
      known === undefined || known.atMs < cluster.nowMs || known.moods.some((mood, at) => mood !== moods[at]);
    if (isNews)
      yield {
        label: `the pods of ${name} are probed`,
        cluster: { ...cluster, probes: withMap(cluster.probes, name, { moods, atMs: cluster.nowMs }) },
      };
  }
}

/**
 * Where queries may start: on what the Service selects, and, until the settle time has passed, on what it selected
 * before.
 */
export function takesQueries(cluster: Cluster, set: string): boolean {
  const { remembers, settleMs } = cluster.settings;
  if (!remembers) return true;
  // Of the others no query is ever lost.
  if (generationInName(set) !== cluster.engine?.status?.drainingGeneration) return false;
  const routedMs = routedSet(cluster) === set ? cluster.nowMs : cluster.routedMs.get(set);
  return routedMs !== undefined && cluster.nowMs < routedMs + settleMs;
}

function* endings(cluster: Cluster): Generator<Step> {
  for (const [name, { metadata }] of cluster.statefulSets)
    if (metadata?.deletionTimestamp !== undefined)
      yield {
        label: `${name} has ended`,
        cluster: written(cluster, {
          statefulSets: withMap(cluster.statefulSets, name, undefined),
          pods: withMap(cluster.pods, name, undefined),
        }),
      };
}

/** Without the objects of the engine's names that `goes` picks; the same cluster when there is none. */
function swept(cluster: Cluster, goes: (owner: string | undefined) => boolean): Cluster {
  const keep = (map: ReadonlyMap<string, Stored>): ReadonlyMap<string, Stored> =>
    [...map.values()].some(({ metadata }) => goes(controllerUid(metadata)))
      ? new Map([...map].filter(([, { metadata }]) => !goes(controllerUid(metadata))))
      : map;
  const kept = childMaps((map) => keep(cluster[map]));
  if (CHILD_MAPS.every((map) => kept[map] === cluster[map])) return cluster;
  const pods = new Map(
    [...cluster.pods].filter(([name, { orphaned }]) => orphaned === true || kept.statefulSets.has(name)),
  );
  return written(cluster, { ...kept, pods });
}

/** Objects whose owner does not exist. */
function* collections(cluster: Cluster): Generator<Step> {
  const engine = cluster.engine?.metadata?.uid;
  const next = swept(cluster, (owner) => owner !== undefined && owner !== engine);
  if (next !== cluster) yield { label: "objects without an owner are collected", cluster: next };
}

/** Foreign objects under the engine's names are deleted. */
function* strangersGone(cluster: Cluster): Generator<Step> {
  const next = swept(cluster, (owner) => owner === undefined);
  if (next !== cluster) yield { label: "a stranger's objects are removed", cluster: next };
}

function* recoveries(cluster: Cluster): Generator<Step> {
  if (cluster.instance !== OPEN_INSTANCE)
    yield { label: "the instance is ready", cluster: written(cluster, { instance: OPEN_INSTANCE }) };
  if (cluster.engineClass === undefined)
    yield { label: "the class is back", cluster: written(cluster, { engineClass: CLASSES[0] }) };
  if (cluster.forbidden !== undefined)
    yield { label: `${cluster.forbidden} may be written again`, cluster: written(cluster, { forbidden: undefined }) };
}
