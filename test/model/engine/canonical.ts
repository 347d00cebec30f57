// The identity of a state: two systems with the same key behave alike for ever. Generation numbers count from the
// lowest one in use, versions and uids only matter as "the same as in the cluster or not", and times as their age, up
// to where age stops to matter.
import { ANNOTATION, LABEL } from "../../../src/api/labels.ts";
import type { Engine, Service } from "../../../src/engine/model/children.ts";
import {
  CHILD_MAPS,
  type ChildMap,
  type Cluster,
  generationInName,
  KINDS,
  type Kind,
  LONG_MS,
  type Metadata,
  type Mood,
  type PodGroup,
  PROBE_KEPT_MS,
} from "./cluster.ts";
import { axesOf, CLASSES, CLOSED_INSTANCE, OPEN_INSTANCE, specIdOf } from "./fixtures.ts";
import { type Lag, type System, seenThrough } from "./system.ts";

const contents = new Map<string, number>();
const contentOfSpec = new WeakMap<object, number>();
const statusTexts = new WeakMap<object, readonly string[]>();

export function canonicalKey(system: System): string {
  const { cluster, lag, touched, paused, standby } = system;
  const base = lowestGeneration(system);
  let key = clusterKey(cluster, base) + lagKey(cluster, lag, base);
  const { engine } = seenThrough(cluster, lag);
  if (engine !== undefined && engine.metadata?.resourceVersion === cluster.storedBy) key += "|own";
  if (standby !== undefined) key += `|standby${lagKey(cluster, standby, base)}`;
  if (touched.routing) key += "|tR";
  const concerned = touched.statefulSets.filter((generation) => generation >= base);
  if (concerned.length > 0) key += `|tS${concerned.map((generation) => generation - base).join()}`;
  if (paused !== undefined) {
    const { startKey, at, stoppedAt } = paused;
    const relations = KINDS.map((kind) => relation(stoppedAt, cluster, kind)).join(".");
    key += `|paused ${at} ${lowestGeneration({ cluster: paused.cluster, lag: paused.lag }) - base} ${relations} ${startKey}`;
  }
  return key;
}

function lagKey(cluster: Cluster, lag: Lag, base: number): string {
  let key = "";
  for (const kind of KINDS)
    if (Object.hasOwn(lag, kind)) {
      const view = { ...cluster, ...lag };
      key += `|${kind}>${partKey(view, kind, base)}${relation(view, cluster, kind)}`;
    }
  return key;
}

function clusterKey(cluster: Cluster, base: number): string {
  const { forbidden, used, settings, probes, routedMs } = cluster;
  let key = "";
  for (const kind of KINDS) key += `${partKey(cluster, kind, base)};`;
  if (forbidden !== undefined) key += `!${forbidden}`;
  key += relative(used, base);
  if (!settings.remembers) return key;
  for (const [name, { moods, atMs }] of probes)
    if (cluster.nowMs - atMs <= PROBE_KEPT_MS && cluster.pods.has(name))
      key += `P${relative(generationInName(name) ?? 0, base)}${moodsKey(moods)}${cluster.nowMs - atMs}`;
  for (const [name, ms] of routedMs)
    if (cluster.nowMs - ms < settings.settleMs && cluster.pods.has(name))
      key += `R${relative(generationInName(name) ?? 0, base)}${cluster.nowMs - ms}`;
  return key;
}

function partKey(cluster: Cluster, kind: Kind, base: number): string {
  switch (kind) {
    case "engine":
      return engineKey(cluster, base);
    case "engineClass":
      return cluster.engineClass === undefined ? "-" : String(CLASSES.indexOf(cluster.engineClass));
    case "instance":
      return cluster.instance === OPEN_INSTANCE ? "o" : cluster.instance === CLOSED_INSTANCE ? "c" : "-";
    case "statefulSets":
      return childrenKey(
        cluster.engine,
        cluster.statefulSets,
        base,
        (set) => contentKey(set.spec, set.metadata?.name) + (set.metadata?.generation ?? ""),
      );
    case "services":
      return childrenKey(cluster.engine, cluster.services, base, (service) => selectorKey(service, base));
    case "pods":
      return [...cluster.pods]
        .map(([name, group]) => podsKey(name, group, base))
        .toSorted()
        .join();
    default: {
      const objects: ReadonlyMap<string, Child> = cluster[kind satisfies ChildMap];
      return childrenKey(cluster.engine, objects, base, (object) => contentKey(object, object.metadata?.name));
    }
  }
}

function engineKey(cluster: Cluster, base: number): string {
  const { engine } = cluster;
  if (engine === undefined) return "-";
  const { metadata, status } = engine;
  const wake = metadata?.annotations?.[ANNOTATION.wakeRequested];
  const flags = `${metadata?.finalizers?.length ?? 0}${metadata?.deletionTimestamp === undefined ? "" : "D"}${wake === undefined ? "" : `W${ageKey(cluster, wake)}`}`;
  if (status === undefined) return `${specIdOf(axesOf(engine))}${flags}`;
  const { phase, currentGeneration, activeGeneration, drainingGeneration, observedGeneration, highestGeneration } =
    status;
  const seen = observedGeneration === undefined ? "?" : observedGeneration === metadata?.generation ? "=" : "<";
  const counters = [currentGeneration, activeGeneration, drainingGeneration ?? -2, highestGeneration ?? -2].map(
    (value) => relative(value, base),
  );
  return `${specIdOf(axesOf(engine))}${flags}${phase}${counters.join()}${seen}${rolloutKey(cluster, status)}${conditionsKey(engine, status, base)}`;
}

/** What waits for a moment, and what is remembered until one. */
function rolloutKey(cluster: Cluster, status: NonNullable<Engine["status"]>): string {
  const { rolloutHash, heldRollout, drainingSince, lastActivityTime, lastScaledAt, autoStopReason } = status;
  let key = rolloutHash === undefined ? "" : `h${textId(rolloutHash)}`;
  if (heldRollout !== undefined) {
    const { field, attempts, until } = heldRollout;
    const dueMs = until === undefined ? -1 : Math.max(0, Date.parse(until) - cluster.nowMs);
    key += `H${field}${attempts}${dueMs}`;
    // How old the StatefulSet is decides whether it is forgotten.
    for (const { metadata } of cluster.statefulSets.values()) key += ageKey(cluster, metadata?.creationTimestamp);
  }
  if (drainingSince !== undefined && cluster.settings.settleMs > 0)
    key += `s${Math.max(0, Date.parse(drainingSince) + cluster.settings.settleMs - cluster.nowMs)}`;
  if (autoStopReason !== undefined && autoStopReason !== "Disabled")
    key += `A${autoStopReason}${ageKey(cluster, lastActivityTime)}/${ageKey(cluster, lastScaledAt)}`;
  return key;
}

/** In seconds, up to where nothing reads it any more. */
function ageKey({ nowMs }: Cluster, time: string | undefined): string {
  return time === undefined ? "?" : String(Math.min(nowMs - Date.parse(time), LONG_MS) / 1_000);
}

/** Messages name generations; everything else in them is taken as it stands. */
function conditionsKey(engine: Engine, status: NonNullable<Engine["status"]>, base: number): string {
  let texts = statusTexts.get(status);
  if (texts === undefined) {
    const text = (status.conditions ?? [])
      .map(
        ({ type, status: value, reason, message, observedGeneration }) =>
          `${type}${value}${reason}${message}@${observedGeneration}`,
      )
      .join();
    texts = text.split(/(@\d+|eneration \d+)/);
    statusTexts.set(status, texts);
  }
  return texts
    .map((text) => {
      if (text.startsWith("@")) return text === `@${engine.metadata?.generation}` ? "=" : "<";
      return text.startsWith("eneration ") ? relative(Number(text.slice(10)), base) : text;
    })
    .join("");
}

type Child = { readonly metadata?: Metadata };

function childrenKey<T extends Child>(
  engine: Engine | undefined,
  objects: ReadonlyMap<string, T>,
  base: number,
  content: (object: T) => string,
): string {
  if (objects.size === 0) return "";
  const owner = engine?.metadata?.uid;
  const keys = [...objects].map(([name, object]) => {
    const { ownerReferences, deletionTimestamp, finalizers } = object.metadata ?? {};
    const generation = generationInName(name);
    const { labels } = object.metadata ?? {};
    const mark = `${ownerReferences?.[0]?.uid === owner ? "" : ownerReferences === undefined ? "?" : "!"}${labels?.[LABEL.engine] === undefined ? "L" : ""}${deletionTimestamp === undefined ? "" : "D"}${finalizers?.length ?? ""}`;
    return `${generation === undefined ? "r" : `${generation - base}${name.endsWith("-hl") ? "h" : ""}`}${mark}:${content(object)}`;
  });
  return keys.toSorted().join();
}

/** A number for the content of an object, apart from its metadata and the generation in its names. */
function contentKey(spec: object | undefined, name: string | undefined): string {
  if (spec === undefined) return "";
  let content = contentOfSpec.get(spec);
  if (content === undefined) {
    const generation = generationInName(name ?? "") ?? 0;
    const text = JSON.stringify({ ...spec, metadata: undefined })
      .replaceAll(`-g${generation}`, "-g#")
      .replaceAll(`"${LABEL.generation}":"${generation}"`, "#");
    content = textId(text);
    contentOfSpec.set(spec, content);
  }
  return String(content);
}

function textId(text: string): number {
  const id = contents.get(text) ?? contents.size;
  contents.set(text, id);
  return id;
}

function selectorKey(service: Service, base: number): string {
  const target = service.spec?.selector?.[LABEL.generation];
  return target === undefined || Number.isNaN(Number(target)) ? "x" : String(Number(target) - base);
}

function podsKey(name: string, { moods, terminating, orphaned }: PodGroup, base: number): string {
  return `${(generationInName(name) ?? 0) - base}${terminating ? "D" : ""}${orphaned ? "O" : ""}${moodsKey(moods)}`;
}

const MOOD_KEY = {
  pending: "p",
  idle: "i",
  busy: "b",
  silent: "s",
  unready: "u",
  unreadyBusy: "B",
  unreadySilent: "S",
  gone: "-",
} as const satisfies Record<Mood, string>;

function moodsKey(moods: readonly Mood[]): string {
  return moods.map((mood) => MOOD_KEY[mood]).join("");
}

/**
 * Which objects of a kind, as a process knows them, are still the stored ones: same version, same object, or neither.
 */
function relation(known: Cluster, cluster: Cluster, kind: Kind): string {
  switch (kind) {
    case "engine": {
      const sameStatus = known.engine?.status === cluster.engine?.status ? "" : "s";
      return compare(known.engine, cluster.engine) + sameStatus;
    }
    case "engineClass":
    case "instance":
    case "pods":
      return "";
    default: {
      const [before, now] = [known[kind satisfies ChildMap], cluster[kind satisfies ChildMap]];
      return [...before].map(([name, object]) => compare(object, now.get(name))).join("");
    }
  }
}

type Versioned = { readonly metadata?: { readonly uid?: string; readonly resourceVersion?: string } } | undefined;

function compare(before: Versioned, now: Versioned): string {
  if (before?.metadata?.resourceVersion === now?.metadata?.resourceVersion) return "=";
  return before?.metadata?.uid === now?.metadata?.uid ? "~" : "!";
}

function relative(generation: number, base: number): string {
  return generation < 0 ? "-" : String(generation - base);
}

function lowestGeneration({ cluster, lag, standby }: Pick<System, "cluster" | "lag" | "standby">): number {
  let lowest = Number.POSITIVE_INFINITY;
  const count = (generation: number | undefined) => {
    if (generation !== undefined && generation >= 0 && generation < lowest) lowest = generation;
  };
  const views = [cluster];
  if (Object.keys(lag).length > 0) views.push({ ...cluster, ...lag });
  if (standby !== undefined) views.push({ ...cluster, ...standby });
  for (const view of views) {
    const { status } = view.engine ?? {};
    count(status?.activeGeneration);
    count(status?.currentGeneration);
    count(status?.drainingGeneration);
    for (const map of CHILD_MAPS) for (const name of view[map].keys()) count(generationInName(name));
    for (const name of view.pods.keys()) count(generationInName(name));
    for (const service of view.services.values()) {
      const target = Number(service.spec?.selector?.[LABEL.generation]);
      if (!Number.isNaN(target)) count(target);
    }
  }
  return lowest === Number.POSITIVE_INFINITY ? 0 : lowest;
}
