// What the invariants talk about, read from a cluster: phase and counters of the engine, where queries go, which pods
// are ready.
import { LABEL } from "../../../src/api/labels.ts";
import { type Engine, isOwnedBy, type StatefulSet } from "../../../src/engine/model/children.ts";
import { routingServiceName, statefulSetName } from "../../../src/engine/model/names.ts";
import { CHILD_MAPS, type Cluster, generationInName, isBusyMood, isReadyMood } from "./cluster.ts";
import { axesOf, NAME, OPEN_INSTANCE } from "./fixtures.ts";

export interface Counters {
  /** Empty before the first pass. */
  readonly phase: string;
  readonly current: number;
  readonly active: number;
  readonly draining: number | undefined;
  /** The highest number that the status knows of. */
  readonly highest: number;
}

export function countersOf(status: Engine["status"]): Counters {
  return {
    phase: status?.phase ?? "",
    current: status?.currentGeneration ?? 0,
    active: status?.activeGeneration ?? -1,
    draining: status?.drainingGeneration,
    highest: Math.max(status?.currentGeneration ?? 0, status?.highestGeneration ?? 0),
  };
}

export const isRest = (phase: string): boolean => phase === "stable" || phase === "stopped";
export const isGatedPhase = (phase: string): boolean => isRest(phase) || phase === "creating";

export function isBeingDeleted({ engine }: Cluster): boolean {
  return engine?.metadata?.deletionTimestamp !== undefined;
}

/**
 * The generation that queries go to: undefined without a Service of the engine, NaN for a selector that is no number.
 */
export function targetOf(cluster: Cluster): number | undefined {
  const service = cluster.services.get(routingServiceName(NAME));
  if (service === undefined || !isOwnedBy(service.metadata, cluster.engine?.metadata?.uid ?? "")) return undefined;
  return Number(service.spec?.selector?.[LABEL.generation]);
}

/**
 * Whether all wanted pods of a generation are ready, as far as this cluster (or view of one) shows. Its StatefulSet has
 * the number.
 */
export function isComplete(cluster: Cluster, generation: number, wanted?: number): boolean {
  const name = statefulSetName(NAME, generation);
  const set = cluster.statefulSets.get(name);
  if (set === undefined || set.metadata?.deletionTimestamp !== undefined) return false;
  if (!isOwnedBy(set.metadata, cluster.engine?.metadata?.uid ?? "")) return false;
  const moods = cluster.pods.get(name)?.moods ?? [];
  const count = wanted ?? set.spec?.replicas ?? 1;
  return count === 0 || (moods.length === count && moods.every(isReadyMood));
}

/** Whether no pod of the generation runs a query, ready or not. */
export function isQuiet(cluster: Cluster, generation: number): boolean {
  const moods = cluster.pods.get(statefulSetName(NAME, generation))?.moods ?? [];
  return !moods.some(isBusyMood);
}

/** Whether the Service may be switched back to the draining generation: it is complete and matches the spec. */
export function maySwitchBack(seen: Cluster, { phase, current, active, draining }: Counters): boolean {
  if (phase !== "draining" || draining === undefined || current !== active || !isGateOpen(seen)) return false;
  return isComplete(seen, draining) && runsSpec(seen, draining) && !runsSpec(seen, current);
}

export function isGateOpen({ instance, engineClass }: Cluster): boolean {
  return instance === OPEN_INSTANCE && engineClass !== undefined;
}

export function colorOf(engineClass: Cluster["engineClass"]): string | undefined {
  return new Map(Object.entries(engineClass?.spec?.template.metadata?.labels ?? {})).get("color");
}

/** Whether a generation is what engine and class request, as far as this cluster (or view of one) shows. */
export function runsSpec(cluster: Cluster, generation: number): boolean {
  const { metadata, spec } = cluster.statefulSets.get(statefulSetName(NAME, generation)) ?? {};
  if (metadata?.deletionTimestamp !== undefined || metadata?.labels?.[LABEL.engine] === undefined) return false;
  return isRunBy(spec, spec?.replicas, cluster);
}

/** Whether a generation was built for what engine and class request, whatever became of its StatefulSet since. */
export function isBuiltFor(
  { statefulSets }: Cluster,
  { engine, engineClass }: Pick<Cluster, "engine" | "engineClass">,
  generation: number,
): boolean {
  const { metadata, spec } = statefulSets.get(statefulSetName(NAME, generation)) ?? {};
  // People of the model scale by one, and once.
  return isRunBy(spec, (spec?.replicas ?? 1) - (metadata?.generation === 1 ? 0 : 1), { engine, engineClass });
}

function isRunBy(
  spec: StatefulSet["spec"],
  size: number | undefined,
  { engine, engineClass }: Pick<Cluster, "engine" | "engineClass">,
): boolean {
  if (engine === undefined || spec === undefined) return false;
  const { template, replicas } = axesOf(engine);
  return (
    size === replicas &&
    spec.template.spec?.containers[0]?.image?.endsWith(`:${template}`) === true &&
    spec.template.metadata?.labels?.["color"] === colorOf(engineClass)
  );
}

/** Generations that have an object of the engine which is not on its way out. */
export function liveGenerations(cluster: Cluster): ReadonlySet<number> {
  const uid = cluster.engine?.metadata?.uid ?? "";
  const live = new Set<number>();
  for (const map of CHILD_MAPS)
    for (const [name, { metadata }] of cluster[map]) {
      const generation = generationInName(name);
      if (generation !== undefined && metadata?.deletionTimestamp === undefined && isOwnedBy(metadata, uid))
        live.add(generation);
    }
  return live;
}

/** Every object has the label by which caches find it. */
export function isPlain(cluster: Cluster): boolean {
  return CHILD_MAPS.every((map) =>
    [...cluster[map].values()].every(({ metadata }) => metadata?.labels?.[LABEL.engine] !== undefined),
  );
}
