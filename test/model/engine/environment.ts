// What Kubernetes and patient people do by themselves: pods start, queries end, deleted things vanish, instance and class come
// back. A fair run takes every such step sooner or later.
import { type Cluster, isReadyMood, type Mood, touched, withMap, written } from "./cluster.ts";
import { CLASSES, OPEN_INSTANCE } from "./fixtures.ts";

export interface Step {
  readonly label: string;
  readonly cluster: Cluster;
}

export function fairSteps(cluster: Cluster): readonly Step[] {
  return [...podSteps(cluster), ...endings(cluster), ...collections(cluster), ...recoveries(cluster)];
}

/** Takes every fair step there is, until there is none. */
export function settled(cluster: Cluster, steps: (cluster: Cluster) => readonly Step[] = fairSteps): Cluster {
  let now = cluster;
  for (let next = steps(now)[0]; next !== undefined; next = steps(now)[0]) now = next.cluster;
  return now;
}

/** Everything but instance and class, which stay as they are. */
export function fairStepsOfPods(cluster: Cluster): readonly Step[] {
  return [...podSteps(cluster), ...endings(cluster), ...collections(cluster)];
}

export function withMoods(cluster: Cluster, set: string, moods: readonly Mood[]): Cluster {
  const statefulSet = cluster.statefulSets.get(set);
  if (statefulSet === undefined) return cluster;
  // Kubernetes counts ready pods in the StatefulSet's status, so its version moves too.
  return written(cluster, {
    statefulSets: withMap(cluster.statefulSets, set, touched(cluster, statefulSet)),
    pods: withMap(cluster.pods, set, { moods, terminating: false }),
  });
}

function* podSteps(cluster: Cluster): Generator<Step> {
  for (const [name, set] of cluster.statefulSets) {
    if (set.metadata?.deletionTimestamp !== undefined) continue;
    const wanted = set.spec?.replicas ?? 1;
    const moods = cluster.pods.get(name)?.moods ?? [];
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

/** Objects whose owner is gone. */
function* collections(cluster: Cluster): Generator<Step> {
  const owner = cluster.engine?.metadata?.uid;
  const keep = <T extends { readonly metadata?: { readonly ownerReferences?: readonly { readonly uid: string }[] } }>(
    map: ReadonlyMap<string, T>,
  ): ReadonlyMap<string, T> =>
    new Map([...map].filter(([, { metadata }]) => metadata?.ownerReferences?.[0]?.uid === owner));
  const [statefulSets, services, configMaps] = [
    keep(cluster.statefulSets),
    keep(cluster.services),
    keep(cluster.configMaps),
  ];
  const isClean =
    statefulSets.size === cluster.statefulSets.size &&
    services.size === cluster.services.size &&
    configMaps.size === cluster.configMaps.size;
  if (isClean) return;
  const pods = new Map([...cluster.pods].filter(([name]) => statefulSets.has(name)));
  yield {
    label: "objects without an owner are collected",
    cluster: written(cluster, { statefulSets, services, configMaps, pods }),
  };
}

function* recoveries(cluster: Cluster): Generator<Step> {
  if (cluster.instance !== OPEN_INSTANCE)
    yield { label: "the instance is ready", cluster: written(cluster, { instance: OPEN_INSTANCE }) };
  if (cluster.engineClass === undefined)
    yield { label: "the class is back", cluster: written(cluster, { engineClass: CLASSES[0] }) };
}
