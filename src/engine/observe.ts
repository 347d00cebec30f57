// Reads everything one decision depends on. Reads come from caches; an absence that would decide something is confirmed by
// the API server. Writes nothing and decides nothing.
import { INSTANCE_DEFAULTS } from "../api/defaults.ts";
import type { OperatorDefaults } from "../api/operator-defaults.ts";
import { type Engine, type Pod, type StatefulSet, viewChild } from "./children.ts";
import { checkDrain } from "./drain-check.ts";
import {
  configMapName,
  type EngineIdentity,
  headlessServiceName,
  routingServiceName,
  statefulSetName,
} from "./names.ts";
import { isAtRest, type StoredPhase } from "./phase.ts";
import { resolveSettings } from "./resolve/settings.ts";
import { viewRouting } from "./routing.ts";
import type {
  ClassView,
  DrainProbe,
  DrainSettings,
  EngineSnapshot,
  GenerationSet,
  Generations,
  PodCount,
  Routing,
} from "./snapshot.ts";
import { generationsOf, identityOf, storedPhase } from "./stored-state.ts";
import type { ResourceBounds } from "./validate.ts";
import type { EngineWorld } from "./world.ts";

export interface ObserveOptions {
  readonly defaults: OperatorDefaults;
  readonly bounds: ResourceBounds;
  readonly nowMs: number;
}

export async function observeEngine(
  world: EngineWorld,
  engine: Engine,
  options: ObserveOptions,
): Promise<EngineSnapshot> {
  const { defaults, bounds, nowMs } = options;
  const identity = identityOf(engine);
  const { namespace } = identity;
  const phase = storedPhase(engine);
  const generations = generationsOf(engine);
  const { instanceRef } = engine.spec ?? {};
  const instance = instanceRef === undefined ? undefined : world.instance({ namespace, name: instanceRef });
  const engineClass = classOf(world, engine, namespace);
  const drain = drainSettings(engine, engineClass);

  const current = await observeSet(world, identity, generations.current, (set) => absenceCounts(phase, set));
  const draining = await observeDrainingSet(world, identity, phase, generations);
  return {
    nowMs,
    engine,
    identity,
    phase,
    status: engine.status,
    generations,
    engineClass,
    instance,
    bounds,
    defaults,
    drain,
    current,
    pods: countPods(world, { identity, phase, current, engine }),
    routing: await observeRouting(world, identity, isFirstBuild(phase, generations, current)),
    draining,
    drainProbe: await probe(world, { identity, phase, draining, drain, instance }),
  };
}

function classOf(world: EngineWorld, engine: Engine, namespace: string): ClassView {
  const name = engine.spec?.engineClassRef;
  if (name === undefined || name === "") return { type: "none" };
  const object = world.engineClass({ namespace, name });
  return object === undefined ? { type: "missing", name } : { type: "found", object };
}

/** A class that cannot be found says nothing: a rollout under way goes on with the engine's own values and the defaults. */
function drainSettings(engine: Engine, engineClass: ClassView): DrainSettings {
  const ofClass = engineClass.type === "found" ? engineClass.object.spec : undefined;
  const { rollout, drainCheckEnabled, drainCheckIntervalMs } = resolveSettings(ofClass, engine.spec);
  return { required: rollout === "graceful" && drainCheckEnabled, intervalMs: drainCheckIntervalMs };
}

async function observeSet(
  world: EngineWorld,
  identity: EngineIdentity,
  generation: number,
  mustConfirm: (set: GenerationSet) => boolean,
): Promise<GenerationSet> {
  const { namespace, name, uid } = identity;
  const key = { namespace, name: statefulSetName(name, generation) };
  const set: GenerationSet = {
    generation,
    statefulSet: viewChild(world.statefulSet(key), uid),
    headlessService: viewChild(world.service({ namespace, name: headlessServiceName(name, generation) }), uid),
    configMap: viewChild(world.configMap({ namespace, name: configMapName(name, generation) }), uid),
  };
  if (set.statefulSet.type !== "absent" || !mustConfirm(set)) return set;
  return { ...set, statefulSet: viewChild(await world.readStatefulSet(key), uid) };
}

/**
 * At rest and while switching, a missing StatefulSet changes the outcome. The first build of a generation needs no such
 * question, because create answers it; a later one does: a set that lost its labels is in no cache.
 */
function absenceCounts(phase: StoredPhase, { configMap }: GenerationSet): boolean {
  return isAtRest(phase) || phase === "switching" || (phase === "creating" && configMap.type !== "absent");
}

async function observeDrainingSet(
  world: EngineWorld,
  identity: EngineIdentity,
  phase: StoredPhase,
  { current, draining }: Generations,
): Promise<GenerationSet | undefined> {
  if (draining === undefined || draining === current) return undefined;
  return observeSet(world, identity, draining, () => phase === "draining");
}

/** Nothing has been written for this engine yet, as far as anybody can see. */
function isFirstBuild(phase: StoredPhase, { active }: Generations, { configMap }: GenerationSet): boolean {
  return (phase === "creating" || phase === "uninitialised") && active < 0 && configMap.type === "absent";
}

/** A Service that lost its labels is in no cache, and creating it again would fail for ever. */
async function observeRouting(world: EngineWorld, identity: EngineIdentity, trustAbsence: boolean): Promise<Routing> {
  const key = { namespace: identity.namespace, name: routingServiceName(identity.name) };
  const cached = world.service(key);
  return viewRouting(cached === undefined && !trustAbsence ? await world.readService(key) : cached, identity);
}

interface PodInput {
  readonly identity: EngineIdentity;
  readonly phase: StoredPhase;
  readonly current: GenerationSet;
  readonly engine: Engine;
}

function countPods(world: EngineWorld, { identity, phase, current, engine }: PodInput): PodCount {
  const { statefulSet, generation } = current;
  const specified = engine.spec?.replicas ?? 0;
  if (statefulSet.type === "absent" || statefulSet.type === "foreign")
    return { wanted: specified, total: 0, ready: 0, allReady: false };
  const pods = world.pods(identity, generation);
  const total = pods.length;
  const ready = pods.filter(isReady).length;
  // The spec may have moved on while switching; what was promised then is the StatefulSet's own number.
  const wanted = phase === "switching" ? replicasOf(statefulSet.object) : specified;
  const complete = wanted === 0 || (total === wanted && ready === total);
  return { wanted, total, ready, allReady: statefulSet.type === "live" && complete };
}

function isReady({ metadata, status }: Pod): boolean {
  return (
    status?.phase === "Running" &&
    metadata?.deletionTimestamp === undefined &&
    (status.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false)
  );
}

interface ProbeInput {
  readonly identity: EngineIdentity;
  readonly phase: StoredPhase;
  readonly draining: GenerationSet | undefined;
  readonly drain: DrainSettings;
  readonly instance: EngineSnapshot["instance"];
}

async function probe(world: EngineWorld, input: ProbeInput): Promise<DrainProbe> {
  const { identity, phase, draining, drain, instance } = input;
  if (phase !== "draining" || draining === undefined || !drain.required) return { type: "notAsked" };
  const { statefulSet, generation } = draining;
  if (statefulSet.type === "absent" || statefulSet.type === "foreign") return { type: "drained" };
  const cached = world.pods(identity, generation);
  // Fewer pods than the StatefulSet wants may mean that the cache has not seen them, and one of those could be busy.
  const pods = cached.length < replicasOf(statefulSet.object) ? await world.listPods(identity, generation) : cached;
  return checkDrain(world, pods, instance?.spec.metricScrapeMode ?? INSTANCE_DEFAULTS.metricScrapeMode);
}

function replicasOf(statefulSet: StatefulSet): number {
  return statefulSet.spec?.replicas ?? 1;
}
