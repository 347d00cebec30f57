// What may happen to an engine at any moment and needs no fairness: people edit, delete and meddle, pods fail, queries run, the
// instance goes away, watches stand still. Each is one step of cost one.
import { LABEL } from "../../../src/api/labels.ts";
import { routingServiceName } from "../../../src/engine/names.ts";
import {
  type Cluster,
  deleted,
  generationInName,
  isReadyMood,
  KINDS,
  type Mood,
  TIME,
  touched,
  withMap,
  written,
} from "./cluster.ts";
import { withMoods } from "./environment.ts";
import {
  axesOf,
  CLASSES,
  CLOSED_INSTANCE,
  engineOf,
  NAME,
  OPEN_INSTANCE,
  ROLLOUTS,
  SIZES,
  type SpecAxes,
  specIdOf,
  specOf,
  TEMPLATES,
} from "./fixtures.ts";
import { stalled } from "./model-world.ts";
import { type System, seenThrough, UNTOUCHED } from "./system.ts";

export const DISTURBANCES = [
  "spec",
  "class",
  "instance",
  "pods",
  "queries",
  "routing",
  "children",
  "statefulSets",
  "deletion",
  "stall",
] as const;
export type Disturbance = (typeof DISTURBANCES)[number];

export interface Happening {
  readonly label: string;
  readonly system: System;
}

export function happenings(system: System, which: Disturbance): Iterable<Happening> {
  switch (which) {
    case "spec":
      return specEdits(system);
    case "class":
      return classEdits(system);
    case "instance":
      return instanceLoss(system);
    case "pods":
      return podFailures(system);
    case "queries":
      return queryStarts(system);
    case "routing":
      return routingEdits(system);
    case "children":
      return childDeletions(system);
    case "statefulSets":
      return statefulSetEdits(system);
    case "deletion":
      return endsAndBeginnings(system);
    case "stall":
      return stalls(system);
    default:
      return which satisfies never;
  }
}

const to = (system: System, label: string, change: Partial<Cluster>): Happening => ({
  label,
  system: { ...system, cluster: written(system.cluster, change) },
});

function* specEdits(system: System): Generator<Happening> {
  const { engine } = system.cluster;
  if (engine === undefined) return;
  const axes = axesOf(engine);
  const edits: SpecAxes[] = [
    ...TEMPLATES.map((template) => ({ ...axes, template })),
    ...SIZES.map((replicas) => ({ ...axes, replicas })),
    ...ROLLOUTS.map((rollout) => ({ ...axes, rollout })),
  ];
  for (const edit of edits) {
    const spec = specOf(edit);
    if (spec === engine.spec) continue;
    const generation = (engine.metadata?.generation ?? 0) + 1;
    const edited = touched(system.cluster, { ...engine, spec }, { generation });
    yield to(system, `the spec becomes ${specIdOf(edit)}`, { engine: edited });
  }
}

function* classEdits(system: System): Generator<Happening> {
  for (const [version, engineClass] of CLASSES.entries())
    if (engineClass !== system.cluster.engineClass)
      yield to(system, `the class becomes version ${version}`, { engineClass });
  if (system.cluster.engineClass !== undefined) yield to(system, "the class is removed", { engineClass: undefined });
}

function* instanceLoss(system: System): Generator<Happening> {
  if (system.cluster.instance !== OPEN_INSTANCE) return;
  yield to(system, "the instance loses its endpoint", { instance: CLOSED_INSTANCE });
  yield to(system, "the instance is removed", { instance: undefined });
}

function* podFailures(system: System): Generator<Happening> {
  const { cluster } = system;
  for (const [name, set] of cluster.statefulSets) {
    if (set.metadata?.deletionTimestamp !== undefined) continue;
    const moods = cluster.pods.get(name)?.moods ?? [];
    const change = (label: string, next: readonly Mood[]): Happening => ({
      label,
      system: { ...system, cluster: withMoods(cluster, name, next) },
    });
    for (const [ordinal, mood] of moods.entries())
      if (isReadyMood(mood)) yield change(`${name}-${ordinal} becomes unready`, moods.with(ordinal, "unready"));
    if (moods.length === 0 && (set.spec?.replicas ?? 1) > 0) yield change(`${name}-0 alone starts`, ["idle"]);
    if (moods.includes("idle")) yield change(`${name}-0 is replaced`, moods.with(0, "pending"));
  }
}

function* queryStarts(system: System): Generator<Happening> {
  const { cluster } = system;
  for (const [name, { moods, terminating }] of cluster.pods)
    for (const [ordinal, mood] of terminating ? [] : moods.entries())
      for (const next of ["busy", "silent"] as const)
        if (mood === "idle")
          yield {
            label: `${name}-${ordinal} becomes ${next}`,
            system: { ...system, cluster: withMoods(cluster, name, moods.with(ordinal, next)) },
          };
}

function* routingEdits(system: System): Generator<Happening> {
  const { cluster } = system;
  const name = routingServiceName(NAME);
  const service = cluster.services.get(name);
  if (service === undefined) return;
  const meddled = { ...system, touched: { ...system.touched, routing: true } };
  yield to(meddled, "somebody deletes the routing Service", { services: withMap(cluster.services, name, undefined) });
  for (const target of ["x", String(Math.max(0, cluster.engine?.status?.currentGeneration ?? 0))]) {
    if (service.spec?.selector?.[LABEL.generation] === target) continue;
    const selector = { ...service.spec?.selector, [LABEL.generation]: target };
    const edited = touched(cluster, { ...service, spec: { ...service.spec, selector } });
    yield to(meddled, `somebody points the routing Service at ${target}`, {
      services: withMap(cluster.services, name, edited),
    });
  }
}

function* childDeletions(system: System): Generator<Happening> {
  for (const map of ["configMaps", "services"] as const)
    for (const name of system.cluster[map].keys())
      if (generationInName(name) !== undefined)
        yield {
          label: `somebody deletes ${name}`,
          system: { ...system, cluster: deleted(system.cluster, map, name, false) },
        };
}

function* statefulSetEdits(system: System): Generator<Happening> {
  const { cluster } = system;
  for (const [name, set] of cluster.statefulSets) {
    if (set.metadata?.deletionTimestamp !== undefined) continue;
    const statefulSets = [...new Set([...system.touched.statefulSets, generationInName(name) ?? -1])].toSorted();
    const meddled = { ...system, touched: { ...system.touched, statefulSets } };
    for (const foreground of [false, true])
      yield {
        label: `somebody deletes ${name}${foreground ? " and waits for its pods" : ""}`,
        system: { ...meddled, cluster: deleted(cluster, "statefulSets", name, foreground) },
      };
    const { spec } = set;
    if (spec === undefined || set.metadata?.generation !== 1) continue;
    const scaled = touched(
      cluster,
      { ...set, spec: { ...spec, replicas: (spec.replicas ?? 1) + 1 } },
      { generation: 2 },
    );
    yield to(system, `somebody scales ${name}`, { statefulSets: withMap(cluster.statefulSets, name, scaled) });
  }
}

function* endsAndBeginnings(system: System): Generator<Happening> {
  const { cluster } = system;
  const { engine } = cluster;
  if (engine === undefined) {
    const again = engineOf(
      { template: "A", replicas: 1, rollout: "graceful" },
      `u${cluster.version + 1}`,
      cluster.version + 1,
    );
    yield to({ ...system, touched: UNTOUCHED }, "an engine of the same name is created", { engine: again });
  } else if (engine.metadata?.deletionTimestamp === undefined) {
    const held = (engine.metadata?.finalizers ?? []).length > 0;
    const next = held ? touched(cluster, engine, { deletionTimestamp: TIME }) : undefined;
    yield to(system, "the engine is deleted", { engine: next });
  }
}

function* stalls(system: System): Generator<Happening> {
  const { cluster, lag } = system;
  for (const kind of KINDS)
    if (!Object.hasOwn(lag, kind))
      yield {
        label: `the watch of ${kind} stands still`,
        system: { ...system, lag: { ...lag, ...stalled(seenThrough(cluster, lag), kind) } },
      };
}
