// Small builders for engine tests: an engine, its instance, and a snapshot whose objects are rendered from the spec by
// default.
import type { EngineSpec, FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../../src/api/firebolt-engine/engine-class.ts";
import type { EngineStatus } from "../../../src/api/firebolt-engine/status.ts";
import type { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import type { V1ObjectMeta } from "../../../src/api/generated/kubernetes.ts";
import { API_VERSION, ENGINE_NAMES } from "../../../src/api/group.ts";
import { OPERATOR_DEFAULTS } from "../../../src/api/operator-defaults.ts";
import { computeEngine } from "../../../src/engine/compute/compute-engine.ts";
import { CHILD_KINDS, type ChildKind, eachPart, PART_NAMES, PARTS } from "../../../src/engine/model/child-kinds.ts";
import type { Child } from "../../../src/engine/model/children.ts";
import { NO_PODS } from "../../../src/engine/model/pod-state.ts";
import { viewRouting } from "../../../src/engine/model/routing.ts";
import type { EngineSnapshot, GenerationSet, ObservedParts, Routing } from "../../../src/engine/model/snapshot.ts";
import { generationsOf, identityOf, storedPhase } from "../../../src/engine/model/stored-state.ts";
import { renderGeneration } from "../../../src/engine/render/generation.ts";
import { renderRoutingService } from "../../../src/engine/render/routing-service.ts";
import { resolveEngine } from "../../../src/engine/resolve/effective-engine.ts";

export const NOW_MS = Date.UTC(2026, 0, 1, 12);
export const NOW = "2026-01-01T12:00:00Z";
export const EARLIER = "2026-01-01T11:00:00Z";
export const INSTANCE_INFO = {
  id: "01JD0000000000000000000000",
  metadataEndpoint: "main-metadata.ns.svc.cluster.local:7000",
};

export interface EngineChanges {
  readonly metadata?: V1ObjectMeta;
  readonly spec?: Partial<EngineSpec>;
  readonly status?: Partial<EngineStatus>;
}

export function engine({ metadata, spec, status }: EngineChanges = {}): FireboltEngine {
  return {
    apiVersion: API_VERSION,
    kind: "FireboltEngine",
    metadata: {
      namespace: "ns",
      name: "e",
      uid: "engine-uid",
      resourceVersion: "1",
      generation: 1,
      finalizers: [ENGINE_NAMES.finalizer],
      ...metadata,
    },
    spec: { instanceRef: "main", replicas: 2, storage: {}, ...spec },
    ...(status === undefined ? {} : { status: { currentGeneration: 0, activeGeneration: -1, ...status } }),
  };
}

export function instance(
  changes: {
    metadata?: V1ObjectMeta;
    id?: string;
    metadataEndpoint?: string;
    status?: FireboltInstance["status"];
  } = {},
): FireboltInstance {
  const { id = INSTANCE_INFO.id, metadataEndpoint = INSTANCE_INFO.metadataEndpoint } = changes;
  return {
    metadata: { namespace: "ns", name: "main", ...changes.metadata },
    spec: { id, metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 }, metadataNG: false },
    status: { metadataEndpoint, ...changes.status },
  };
}

export function engineClass(changes: Partial<FireboltEngineClass> = {}): FireboltEngineClass {
  return { metadata: { namespace: "ns", name: "c", generation: 1 }, spec: { template: {}, storage: {} }, ...changes };
}

export const instanceReady = {
  type: "InstanceReady",
  status: "True",
  reason: "InstanceReady",
  message: "",
  lastTransitionTime: EARLIER,
  observedGeneration: 1,
} as const;

/** The set of a generation as it lives in the cluster, rendered from the engine (as it is, or as `spec` was). */
export function liveSet(of: FireboltEngine, generation: number, metadata: V1ObjectMeta = {}): GenerationSet {
  const effective = resolveEngine({ engine: of, engineClass: undefined, defaults: OPERATOR_DEFAULTS });
  const rendered = renderGeneration({ engine: identityOf(of), effective, generation, instance: INSTANCE_INFO });
  return {
    generation,
    statefulSet: live({ ...rendered.statefulSet, status: { replicas: 0, observedGeneration: 1 } }, metadata),
    ...eachPart<ObservedParts>((part) => live(rendered[part], metadata)),
  };
}

/** The objects of a generation beside its StatefulSet, in the order of removal. */
export const removedParts = (generation: number): readonly { readonly kind: ChildKind; readonly name: string }[] =>
  CHILD_KINDS.flatMap((kind) =>
    PART_NAMES.filter((part) => PARTS[part].kind === kind).map((part) => ({
      kind,
      name: PARTS[part].nameOf("e", generation),
    })),
  );

export const absentSet = (generation: number): GenerationSet => ({
  generation,
  statefulSet: { type: "absent" },
  ...eachPart<ObservedParts>(() => ({ type: "absent" })),
});

function live<T extends { metadata?: V1ObjectMeta }>(object: T, metadata: V1ObjectMeta): Child<T> {
  const uid = `${object.metadata?.name}-uid`;
  const stored = { uid, resourceVersion: "7", generation: 1, creationTimestamp: EARLIER };
  return { type: "live", object: { ...object, metadata: { ...object.metadata, ...stored, ...metadata } } };
}

export const terminating = <T>(child: Child<T>): Child<T> =>
  child.type === "live" ? { type: "terminating", object: child.object } : child;
export const foreign = <T>(child: Child<T>): Child<T> =>
  child.type === "live" ? { type: "foreign", object: child.object } : child;

/** The routing Service selecting a generation. */
export function routingTo(generation: number): Routing {
  const service = renderRoutingService(identityOf(engine()), generation);
  return viewRouting({ ...service, metadata: { ...service.metadata, resourceVersion: "5" } }, identityOf(engine()));
}

export const READY = { wanted: 2, total: 2, ready: 2, allReady: true } as const;
export const NOT_READY = { wanted: 2, total: 2, ready: 1, allReady: false } as const;

/** Phase and counters come from the engine's status; everything is in order by default. */
export function snapshot(of: FireboltEngine, changes: Partial<EngineSnapshot> = {}): EngineSnapshot {
  const generations = generationsOf(of);
  return {
    nowMs: NOW_MS,
    engine: of,
    identity: identityOf(of),
    phase: storedPhase(of),
    status: of.status,
    generations,
    engineClass: { type: "none" },
    instance: instance(),
    bounds: {},
    defaults: OPERATOR_DEFAULTS,
    drain: { required: true, intervalMs: 5_000, settleMs: 0 },
    current: liveSet(of, generations.current),
    pods: READY,
    routing: routingTo(generations.active),
    draining: generations.draining === undefined ? undefined : liveSet(of, generations.draining),
    drainingPods: NO_PODS,
    orphanedPods: [],
    drainProbe: { type: "notProbed" },
    ...changes,
  };
}

/** Another image, so another generation. */
export const IMAGE = { template: { spec: { containers: [{ name: "engine", image: "other:1" }] } } };

/** An engine in a phase, with current, active and draining generation as given. */
export const at = (phase: string, [current, active, draining]: readonly number[], spec: EngineChanges["spec"] = {}) =>
  engine({
    spec,
    status: {
      phase,
      currentGeneration: current ?? 0,
      activeGeneration: active ?? -1,
      ...(draining === undefined ? {} : { drainingGeneration: draining }),
      conditions: [instanceReady],
    },
  });

export const compute = (of: FireboltEngine, changes: Partial<EngineSnapshot> = {}) =>
  computeEngine(snapshot(of, changes));

/** Phase and counters as a status should show them. */
export const status = (phase: string, current: number, active: number, draining?: number) => ({
  phase,
  currentGeneration: current,
  activeGeneration: active,
  ...(draining === undefined ? {} : { drainingGeneration: draining }),
});
