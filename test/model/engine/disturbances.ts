// What may happen to an engine at any moment and needs no fairness: other clients edit and delete objects, pods fail,
// queries run, the instance is deleted, writes are forbidden, watches stall. Each is one step of cost one.
import { timeText } from "../../../src/api/condition-list.ts";
import { ANNOTATION, LABEL } from "../../../src/api/labels.ts";
import { PART_NAMES, PARTS } from "../../../src/engine/model/child-kinds.ts";
import { isOwnedBy } from "../../../src/engine/model/children.ts";
import { routingServiceName, statefulSetName } from "../../../src/engine/model/names.ts";
import {
  CHILD_MAPS,
  type ChildMap,
  type Cluster,
  created,
  deleted,
  generationInName,
  isReadyMood,
  KINDS,
  type Mood,
  mapOf,
  TIME,
  touched,
  withMap,
  written,
} from "./cluster.ts";
import { takesQueries, withMoods } from "./environment.ts";
import {
  axesOf,
  CLASSES,
  CLOSED_INSTANCE,
  engineOf,
  NAME,
  NAMESPACE,
  OPEN_INSTANCE,
  ROLLOUTS,
  SIZES,
  type SpecAxes,
  specIdOf,
  specOf,
  TEMPLATES,
} from "./fixtures.ts";
import { stalled } from "./model-engine-cluster.ts";
import { type System, seenThrough, UNTOUCHED } from "./system.ts";

export const DISTURBANCES = [
  "spec",
  "template",
  "class",
  "instance",
  "pods",
  "queries",
  "routing",
  "children",
  "statefulSets",
  "deletion",
  "stall",
  "orphans",
  "strangers",
  "labels",
  "forbidden",
  "wake",
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
    case "template":
      return specEdits(system, (axes) => TEMPLATES.map((template) => ({ ...axes, template })));
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
    case "orphans":
      return orphanings(system);
    case "strangers":
      return strangers(system);
    case "labels":
      return labelLosses(system);
    case "forbidden":
      return bans(system);
    case "wake":
      return wakes(system);
    default:
      return which satisfies never;
  }
}

const to = (system: System, label: string, change: Partial<Cluster>): Happening => ({
  label,
  system: { ...system, cluster: written(system.cluster, change) },
});

const allEdits = (axes: SpecAxes): readonly SpecAxes[] => [
  ...TEMPLATES.map((template) => ({ ...axes, template })),
  ...SIZES.map((replicas) => ({ ...axes, replicas })),
  ...ROLLOUTS.map((rollout) => ({ ...axes, rollout })),
];

function* specEdits(system: System, editsOf = allEdits): Generator<Happening> {
  const { engine } = system.cluster;
  if (engine === undefined) return;
  for (const edit of editsOf(axesOf(engine))) {
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

/** A pod that fails its readiness probe keeps running its queries. */
const UNREADY: Readonly<Record<Mood, Mood>> = {
  pending: "pending",
  idle: "unready",
  busy: "unreadyBusy",
  silent: "unreadySilent",
  unready: "unready",
  unreadyBusy: "unreadyBusy",
  unreadySilent: "unreadySilent",
  gone: "gone",
};

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
      if (isReadyMood(mood)) yield change(`${name}-${ordinal} becomes unready`, moods.with(ordinal, UNREADY[mood]));
    if (moods.length === 0 && (set.spec?.replicas ?? 1) > 0) yield change(`${name}-0 alone starts`, ["idle"]);
    if (moods.includes("idle")) yield change(`${name}-0 is replaced`, moods.with(0, "pending"));
  }
}

const RUNNING = ["busy", "silent", "unreadyBusy", "unreadySilent"] as const;

function* queryStarts(system: System): Generator<Happening> {
  const { cluster } = system;
  // A query may make a pod fail its readiness probe at once.
  for (const [name, { moods, terminating }] of cluster.pods)
    for (const [ordinal, mood] of terminating || !takesQueries(cluster, name) ? [] : moods.entries())
      for (const next of cluster.settings.remembers ? (["busy"] as const) : RUNNING)
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
  yield to(meddled, "another client deletes the routing Service", {
    services: withMap(cluster.services, name, undefined),
  });
  const { currentGeneration = 0 } = cluster.engine?.status ?? {};
  const uid = cluster.engine?.metadata?.uid ?? "";
  const others = [...cluster.statefulSets].flatMap(([set, { metadata }]) =>
    isOwnedBy(metadata, uid) ? [generationInName(set) ?? 0] : [],
  );
  for (const target of ["x", ...new Set([currentGeneration, ...others])].map(String)) {
    if (service.spec?.selector?.[LABEL.generation] === target) continue;
    const selector = { ...service.spec?.selector, [LABEL.generation]: target };
    const edited = touched(cluster, { ...service, spec: { ...service.spec, selector } });
    yield to(meddled, `another client points the routing Service at ${target}`, {
      services: withMap(cluster.services, name, edited),
    });
  }
}

function* childDeletions(system: System): Generator<Happening> {
  for (const map of new Set(PART_NAMES.map((part) => mapOf(PARTS[part].kind))))
    for (const name of system.cluster[map].keys())
      if (generationInName(name) !== undefined)
        yield {
          label: `another client deletes ${name}`,
          system: { ...system, cluster: deleted(system.cluster, map, name, "background") },
        };
}

function* statefulSetEdits(system: System): Generator<Happening> {
  const { cluster } = system;
  for (const [name, set] of cluster.statefulSets) {
    if (set.metadata?.deletionTimestamp !== undefined) continue;
    const meddled = withTouchedSet(system, name);
    for (const propagation of ["background", "foreground"] as const)
      yield {
        label: `another client deletes ${name}${propagation === "foreground" ? " and waits for its pods" : ""}`,
        system: { ...meddled, cluster: deleted(cluster, "statefulSets", name, propagation) },
      };
    const { spec } = set;
    if (spec === undefined || set.metadata?.generation !== 1) continue;
    const scaled = touched(
      cluster,
      { ...set, spec: { ...spec, replicas: (spec.replicas ?? 1) + 1 } },
      { generation: 2, managedFields: [{ manager: "kubectl", operation: "Update", time: TIME }] },
    );
    yield to(system, `another client scales ${name}`, { statefulSets: withMap(cluster.statefulSets, name, scaled) });
  }
}

function withTouchedSet(system: System, name: string): System {
  const statefulSets = [...new Set([...system.touched.statefulSets, generationInName(name) ?? -1])].toSorted();
  return { ...system, touched: { ...system.touched, statefulSets } };
}

/** `kubectl delete --cascade=orphan`: the pods stay, without an owner. */
function* orphanings(system: System): Generator<Happening> {
  const { cluster } = system;
  for (const [name, { metadata }] of cluster.statefulSets)
    if (metadata?.deletionTimestamp === undefined)
      yield {
        label: `another client deletes ${name} and orphans its pods`,
        system: { ...withTouchedSet(system, name), cluster: deleted(cluster, "statefulSets", name, "orphan") },
      };
}

/**
 * Foreign objects under names that the engine will need: without owner, with the engine's label or without.
 */
function* strangers(system: System): Generator<Happening> {
  const { cluster } = system;
  const { currentGeneration = 0 } = cluster.engine?.status ?? {};
  const names: (readonly [ChildMap, string])[] = [["services", routingServiceName(NAME)]];
  for (const generation of [currentGeneration, cluster.used + 1])
    names.push(...PART_NAMES.map((part) => [mapOf(PARTS[part].kind), PARTS[part].nameOf(NAME, generation)] as const), [
      "statefulSets",
      statefulSetName(NAME, generation),
    ]);
  for (const [map, name] of names)
    for (const labels of cluster[map].has(name) ? [] : [{}, { [LABEL.engine]: NAME }]) {
      const metadata = { name, labels, namespace: NAMESPACE };
      const spec = { replicas: 0, selector: {}, serviceName: "", template: {} };
      const object = created(cluster, map === "statefulSets" ? { metadata, spec } : { metadata });
      yield to(system, `a stranger creates ${name}${LABEL.engine in labels ? " with the engine's label" : ""}`, {
        [map]: withMap<object>(cluster[map], name, object),
      });
    }
}

/** An object loses the label by which caches find it. */
function* labelLosses(system: System): Generator<Happening> {
  const { cluster } = system;
  for (const map of CHILD_MAPS)
    for (const [name, object] of cluster[map]) {
      const { [LABEL.engine]: label, ...labels } = object.metadata?.labels ?? {};
      if (label === undefined || object.metadata?.deletionTimestamp !== undefined) continue;
      yield to(system, `${name} loses its label`, {
        [map]: withMap<object>(cluster[map], name, touched<typeof object>(cluster, object, { labels })),
      });
    }
}

function* bans(system: System): Generator<Happening> {
  for (const forbidden of CHILD_MAPS)
    if (system.cluster.forbidden === undefined) yield to(system, `${forbidden} may not be written`, { forbidden });
}

/** A query for the engine arrives at a gateway. */
function* wakes(system: System): Generator<Happening> {
  const { cluster } = system;
  const { engine } = cluster;
  if (engine === undefined || axesOf(engine).autoStop === undefined) return;
  // As the wake agent stamps: after the last scaling. The clock is stopped here, so it is at most one second later.
  const scaledMs = Date.parse(engine.status?.lastScaledAt ?? "") || 0;
  const stamp = timeText(scaledMs === cluster.nowMs ? scaledMs + 1_000 : cluster.nowMs);
  if (engine.metadata?.annotations?.[ANNOTATION.wakeRequested] === stamp) return;
  const annotations = { ...engine.metadata?.annotations, [ANNOTATION.wakeRequested]: stamp };
  yield to(system, "a query requests the engine", { engine: touched(cluster, engine, { annotations }) });
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
    yield to({ ...system, touched: UNTOUCHED }, "an engine of the same name is created", { engine: again, used: -1 });
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
