// Reads everything one decision depends on. Reads come from caches; an absence that would decide something is confirmed
// by the API server. Writes nothing and decides nothing.
import type { Logger } from "@firebolt-operator/kube";
import type { OperatorDefaults } from "../../api/operator-defaults.ts";
import type { EngineCluster } from "../cluster/engine-cluster.ts";
import { inquiriesOf } from "../compute/inquiries.ts";
import { computeStep } from "../compute/steps/compute-step.ts";
import { eachPart, eachPartInTurn, PARTS, type Part } from "../model/child-kinds.ts";
import { type Engine, viewChild } from "../model/children.ts";
import type { EngineDecision } from "../model/decision.ts";
import { type EngineIdentity, routingServiceName, statefulSetName } from "../model/names.ts";
import { isAtRest, type StoredPhase } from "../model/phase.ts";
import { NO_PODS, podCount, podTroubles, replicasOf } from "../model/pod-state.ts";
import { viewRouting } from "../model/routing.ts";
import type {
  ClassView,
  DrainSettings,
  EngineSnapshot,
  GenerationSet,
  Generations,
  ObservedParts,
  PodCount,
  Routing,
} from "../model/snapshot.ts";
import { generationsOf, identityOf, storedPhase } from "../model/stored-state.ts";
import type { ResourceBounds } from "../model/validate.ts";
import { resolveSettings } from "../resolve/settings.ts";
import { observeDrain } from "./observe-drain.ts";
import { observeFindings } from "./observe-findings.ts";

export interface ObserveOptions {
  readonly defaults: OperatorDefaults;
  readonly bounds: ResourceBounds;
  readonly drainSettleMs: number;
  readonly nowMs: number;
  readonly logger: Logger;
}

export interface Observed {
  readonly snapshot: EngineSnapshot;
  /** What the objects alone lead to, and so which further reads were made. */
  readonly step: EngineDecision;
}

/** Everything that compute reads. What costs a request is read only where the step depends on it. */
export async function observeEngine(
  cluster: EngineCluster,
  engine: Engine,
  options: ObserveOptions,
): Promise<Observed> {
  const objects = await observeObjects(cluster, engine, options);
  const step = computeStep(objects);
  const findings = await observeFindings(objects, { cluster, logger: options.logger }, inquiriesOf(objects, step));
  return { snapshot: { ...objects, findings }, step };
}

async function observeObjects(
  cluster: EngineCluster,
  engine: Engine,
  options: Omit<ObserveOptions, "logger">,
): Promise<EngineSnapshot> {
  const { defaults, bounds, nowMs } = options;
  const identity = identityOf(engine);
  const { namespace } = identity;
  const phase = storedPhase(engine);
  const generations = generationsOf(engine);
  const { instanceRef } = engine.spec ?? {};
  const instance = instanceRef === undefined ? undefined : cluster.instance({ namespace, name: instanceRef });
  const engineClass = classOf(cluster, engine, namespace);
  const drain = { ...drainSettings(engine, engineClass), settleMs: options.drainSettleMs };

  const current = await observeCurrentSet(cluster, identity, phase, generations.current);
  const draining = await observeDrainingSet(cluster, identity, phase, generations);
  const routing = await observeRouting(cluster, identity, {
    phase,
    isFirst: isFirstBuild(phase, generations, current),
  });
  const view = { cluster, engine, identity, phase, draining, drain, instance, nowMs };
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
    pods: countPods(cluster, { identity, phase, current, engine, nowMs }),
    routing,
    draining,
    ...(await observeDrain(view)),
    wakeDemand: cluster.wakeDemand?.(identity),
  };
}

function classOf(cluster: EngineCluster, engine: Engine, namespace: string): ClassView {
  const name = engine.spec?.engineClassRef;
  if (name === undefined || name === "") return { type: "none" };
  const object = cluster.engineClass({ namespace, name });
  return object === undefined ? { type: "missing", name } : { type: "found", object };
}

/**
 * A class that cannot be found sets nothing: a rollout in progress continues with the engine's own values and the
 * defaults.
 */
function drainSettings(engine: Engine, engineClass: ClassView): Omit<DrainSettings, "settleMs"> {
  const ofClass = engineClass.type === "found" ? engineClass.object.spec : undefined;
  const { rollout, drainCheckEnabled, drainCheckIntervalMs } = resolveSettings(ofClass, engine.spec);
  return { required: rollout === "graceful" && drainCheckEnabled, intervalMs: drainCheckIntervalMs };
}

async function observeSet(
  cluster: EngineCluster,
  identity: EngineIdentity,
  generation: number,
  mustConfirm: (set: GenerationSet) => boolean,
): Promise<GenerationSet> {
  const { namespace, name, uid } = identity;
  const key = { namespace, name: statefulSetName(name, generation) };
  const set: GenerationSet = {
    generation,
    statefulSet: viewChild(cluster.child("StatefulSet", key), uid),
    ...eachPart<ObservedParts>((part) => {
      const { kind, nameOf } = PARTS[part];
      return viewChild(cluster.child(kind, { namespace, name: nameOf(name, generation) }), uid);
    }),
  };
  if (set.statefulSet.type !== "absent" || !mustConfirm(set)) return set;
  return { ...set, statefulSet: viewChild(await cluster.readChild("StatefulSet", key), uid) };
}

/**
 * At rest and while switching, a missing StatefulSet changes the outcome. The first build of a generation needs no such
 * request, because the create itself shows it; a later one does: a set that lost its labels is in no cache.
 */
function absenceCounts(phase: StoredPhase, { configMap }: GenerationSet): boolean {
  return isAtRest(phase) || phase === "switching" || (phase === "creating" && configMap.type !== "absent");
}

/** In `creating` the whole set may be abandoned, so the objects of an existing StatefulSet are looked up by name. */
async function observeCurrentSet(
  cluster: EngineCluster,
  identity: EngineIdentity,
  phase: StoredPhase,
  generation: number,
): Promise<GenerationSet> {
  const set = await observeSet(cluster, identity, generation, (seen) => absenceCounts(phase, seen));
  const isThere = set.statefulSet.type === "live" || set.statefulSet.type === "terminating";
  const mayBeGivenUp = phase === "creating" && isThere;
  return mayBeGivenUp ? withUnlabelledParts(cluster, identity, set) : set;
}

async function observeDrainingSet(
  cluster: EngineCluster,
  identity: EngineIdentity,
  phase: StoredPhase,
  { current, draining }: Generations,
): Promise<GenerationSet | undefined> {
  if (draining === undefined || draining === current) return undefined;
  const set = await observeSet(cluster, identity, draining, () => phase === "draining" || phase === "cleaning");
  return phase === "cleaning" ? withUnlabelledParts(cluster, identity, set) : set;
}

/** Objects are deleted by name: an object that lost its label is in no cache, and would outlive its generation. */
async function withUnlabelledParts(
  cluster: EngineCluster,
  { namespace, name, uid }: EngineIdentity,
  set: GenerationSet,
): Promise<GenerationSet> {
  const { generation } = set;
  const find = async (part: Part): Promise<ObservedParts[Part]> => {
    const { kind, nameOf } = PARTS[part];
    if (set[part].type !== "absent") return set[part];
    return viewChild(await cluster.readChild(kind, { namespace, name: nameOf(name, generation) }), uid);
  };
  return { ...set, ...(await eachPartInTurn<ObservedParts>(find)) };
}

/** Nothing has been written for this engine yet, as far as the caches show. */
function isFirstBuild(phase: StoredPhase, { active }: Generations, { configMap }: GenerationSet): boolean {
  return (phase === "creating" || phase === "uninitialised") && active < 0 && configMap.type === "absent";
}

/**
 * A Service that lost its labels is in no cache, and creating it again would fail for ever. In `cleaning` the Service
 * decides a deletion: whatever the cache shows, it is read from the API server.
 */
async function observeRouting(
  cluster: EngineCluster,
  identity: EngineIdentity,
  { phase, isFirst }: { readonly phase: StoredPhase; readonly isFirst: boolean },
): Promise<Routing> {
  const key = { namespace: identity.namespace, name: routingServiceName(identity.name) };
  const cached = cluster.child("Service", key);
  const mustRead = phase === "cleaning" || (cached === undefined && !isFirst);
  return viewRouting(mustRead ? await cluster.readChild("Service", key) : cached, identity);
}

interface PodInput {
  readonly identity: EngineIdentity;
  readonly phase: StoredPhase;
  readonly current: GenerationSet;
  readonly engine: Engine;
  readonly nowMs: number;
}

function countPods(cluster: EngineCluster, { identity, phase, current, engine, nowMs }: PodInput): PodCount {
  const { statefulSet, generation } = current;
  const specified = engine.spec?.replicas ?? 0;
  if (statefulSet.type === "absent" || statefulSet.type === "foreign") return { ...NO_PODS, wanted: specified };
  // The spec may have moved on while switching; what was promised then is the StatefulSet's own number.
  const wanted = phase === "switching" ? replicasOf(statefulSet.object) : specified;
  const pods = cluster.pods(identity, generation);
  return { ...podCount(pods, wanted, statefulSet.type === "live"), ...podTroubles(pods, nowMs) };
}
