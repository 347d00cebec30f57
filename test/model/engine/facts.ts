// What the invariants talk about, read from a cluster: phase and counters of the engine, where queries go, which pods are ready.
import { LABEL } from "../../../src/api/labels.ts";
import { type Engine, isOwnedBy } from "../../../src/engine/children.ts";
import { routingServiceName, statefulSetName } from "../../../src/engine/names.ts";
import { type Cluster, isReadyMood } from "./cluster.ts";
import { axesOf, NAME, OPEN_INSTANCE } from "./fixtures.ts";

export interface Counters {
  /** Empty before the first pass. */
  readonly phase: string;
  readonly current: number;
  readonly active: number;
  readonly draining: number | undefined;
}

export function countersOf(status: Engine["status"]): Counters {
  return {
    phase: status?.phase ?? "",
    current: status?.currentGeneration ?? 0,
    active: status?.activeGeneration ?? -1,
    draining: status?.drainingGeneration,
  };
}

export const isRest = (phase: string): boolean => phase === "stable" || phase === "stopped";
export const isGatedPhase = (phase: string): boolean => isRest(phase) || phase === "creating";

export function isBeingDeleted({ engine }: Cluster): boolean {
  return engine?.metadata?.deletionTimestamp !== undefined;
}

/** The generation that queries go to: undefined without a Service of the engine, NaN for a selector that is no number. */
export function targetOf(cluster: Cluster): number | undefined {
  const service = cluster.services.get(routingServiceName(NAME));
  if (service === undefined || !isOwnedBy(service.metadata, cluster.engine?.metadata?.uid ?? "")) return undefined;
  return Number(service.spec?.selector?.[LABEL.generation]);
}

/** Whether all wanted pods of a generation are ready, as far as this cluster (or view of one) shows. Its StatefulSet says how many. */
export function isComplete(cluster: Cluster, generation: number, wanted?: number): boolean {
  const name = statefulSetName(NAME, generation);
  const set = cluster.statefulSets.get(name);
  if (set === undefined || set.metadata?.deletionTimestamp !== undefined) return false;
  const moods = cluster.pods.get(name)?.moods ?? [];
  const count = wanted ?? set.spec?.replicas ?? 1;
  return count === 0 || (moods.length === count && moods.every(isReadyMood));
}

/** Whether every Running pod of the generation would report no query. */
export function isQuiet(cluster: Cluster, generation: number): boolean {
  const moods = cluster.pods.get(statefulSetName(NAME, generation))?.moods ?? [];
  return moods.every((mood) => mood === "pending" || mood === "unready" || mood === "idle");
}

export function isGateOpen({ instance, engineClass }: Cluster): boolean {
  return instance === OPEN_INSTANCE && engineClass !== undefined;
}

export function colorOf(engineClass: Cluster["engineClass"]): string | undefined {
  return new Map(Object.entries(engineClass?.spec?.template.metadata?.labels ?? {})).get("color");
}

/** Whether a generation is what engine and class ask for, as far as this cluster (or view of one) shows. */
export function runsSpec(cluster: Cluster, generation: number): boolean {
  const { metadata, spec } = cluster.statefulSets.get(statefulSetName(NAME, generation)) ?? {};
  if (cluster.engine === undefined || spec === undefined || metadata?.deletionTimestamp !== undefined) return false;
  const { template, replicas } = axesOf(cluster.engine);
  return (
    spec.replicas === replicas &&
    spec.template.spec?.containers[0]?.image?.endsWith(`:${template}`) === true &&
    spec.template.metadata?.labels?.["color"] === colorOf(cluster.engineClass)
  );
}

/** Generations that have an object of the engine which is not on its way out. */
export function liveGenerations(cluster: Cluster): ReadonlySet<number> {
  const uid = cluster.engine?.metadata?.uid ?? "";
  const live = new Set<number>();
  for (const map of [cluster.statefulSets, cluster.services, cluster.configMaps])
    for (const { metadata } of map.values()) {
      const generation = Number(metadata?.labels?.[LABEL.generation] ?? Number.NaN);
      if (!Number.isNaN(generation) && metadata?.deletionTimestamp === undefined && isOwnedBy(metadata, uid))
        live.add(generation);
    }
  return live;
}
