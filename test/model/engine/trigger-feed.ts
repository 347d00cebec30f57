// The engine controller's own watches over the model's cluster: what caches would report of a change, and whether that
// enqueues the engine. The mapping of events is the operator's; only the caches are the model's.
import { isDeepStrictEqual } from "node:util";
import { type DeepReadonly, type KubeObject, type ObjectKey, systemClock } from "@firebolt-operator/kube";
import type { CacheEvent, CacheListener, ObjectCache } from "@firebolt-operator/kube/cache";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { LABEL } from "../../../src/api/labels.ts";
import { OPERATOR_DEFAULTS } from "../../../src/api/operator-defaults.ts";
import { type CacheSpec, createEngineCaches, type EngineCaches } from "../../../src/engine/cluster/caches.ts";
import { engineController } from "../../../src/engine/controller.ts";
import { CHILD_KINDS } from "../../../src/engine/model/child-kinds.ts";
import type { Engine } from "../../../src/engine/model/children.ts";
import { type ChildMap, type Cluster, KINDS, type Kind, mapOf } from "./cluster.ts";
import { KEY } from "./fixtures.ts";
import { podsIn } from "./readings.ts";

/** Holds at most the one engine; of every other kind only events matter. */
class FeedCache<T extends KubeObject> implements ObjectCache<T> {
  readonly type: ObjectCache<T>["type"];
  readonly synced = true;
  readonly #listeners: CacheListener<T>[] = [];
  objects: readonly DeepReadonly<T>[] = [];

  constructor(type: ObjectCache<T>["type"]) {
    this.type = type;
  }
  get size() {
    return this.objects.length;
  }
  get({ name }: ObjectKey) {
    return this.objects.find(({ metadata }) => metadata?.name === name);
  }
  list() {
    return this.objects;
  }
  byIndex() {
    return this.objects;
  }
  onEvent(listener: CacheListener<T>) {
    this.#listeners.push(listener);
    return () => undefined;
  }
  emit(event: CacheEvent<T>): void {
    for (const listener of this.#listeners) listener(event);
  }
  whenSynced() {
    return Promise.resolve();
  }
  refresh() {
    return Promise.resolve();
  }
  run() {
    return Promise.resolve();
  }
}

export class TriggerFeed {
  readonly #caches: EngineCaches;
  readonly #feeds = new Map<unknown, FeedCache<KubeObject>>();
  #enqueued = false;

  constructor() {
    this.#caches = createEngineCaches(<T extends KubeObject>({ type }: CacheSpec<T>) => {
      const feed = new FeedCache<T>(type);
      this.#feeds.set(feed, feed as unknown as FeedCache<KubeObject>);
      return feed;
    });
    const controller = engineController({
      // No pass runs here, so nothing is ever requested.
      client: undefined as unknown as KubeClient,
      caches: this.#caches,
      clock: systemClock,
      events: { record: () => undefined },
      defaults: OPERATOR_DEFAULTS,
      bounds: {},
      prober: { queries: () => ({ type: "pending" }), onResult: () => () => undefined },
    });
    for (const source of controller.watches)
      source.start(({ namespace, name }) => {
        if (namespace === KEY.namespace && name === KEY.name) this.#enqueued = true;
      });
  }

  /** What caches report of the step from one cluster to another. */
  report(
    before: Cluster,
    after: Cluster,
    origin: "watch" | "write",
  ): { readonly visible: boolean; readonly enqueued: boolean } {
    this.#enqueued = false;
    let visible = false;
    this.#feed("engine").objects = after.engine === undefined ? [] : [after.engine];
    for (const kind of KINDS)
      for (const event of eventsOf(kind, before, after, origin)) {
        visible = true;
        this.#feed(kind).emit(event);
      }
    return { visible, enqueued: this.#enqueued };
  }

  #feed(kind: Kind): FeedCache<KubeObject> {
    const { engines, classes, instances, pods, children } = this.#caches;
    const others = { engine: engines, engineClass: classes, instance: instances, pods };
    const child = CHILD_KINDS.find((candidate) => mapOf(candidate) === kind);
    const cache = child === undefined ? others[kind as keyof typeof others] : children[child];
    const feed = this.#feeds.get(cache);
    if (feed === undefined) throw new Error(`no cache of ${kind}`);
    return feed;
  }
}

type Seen = DeepReadonly<KubeObject>;

function* eventsOf(
  kind: Kind,
  before: Cluster,
  after: Cluster,
  origin: "watch" | "write",
): Generator<CacheEvent<KubeObject>> {
  if (before[kind] === after[kind]) return;
  const [was, is] = [visibleOf(kind, before), visibleOf(kind, after)];
  for (const [name, object] of is) {
    const previous = was.get(name);
    if (previous === object || (kind === "pods" && isDeepStrictEqual(previous, object))) continue;
    if (previous === undefined || previous.metadata?.uid !== object.metadata?.uid) {
      if (previous !== undefined) yield { type: "deleted", object: previous, previous, origin };
      yield { type: "added", object, origin };
    } else yield { type: "modified", object, previous, origin };
  }
  for (const [name, previous] of was) if (!is.has(name)) yield { type: "deleted", object: previous, previous, origin };
}

/** What a cache with its label selector holds. */
function visibleOf(kind: Kind, cluster: Cluster): ReadonlyMap<string, Seen> {
  switch (kind) {
    case "engine":
    case "engineClass":
    case "instance": {
      const object: Engine | Seen | undefined = cluster[kind];
      return new Map(object === undefined ? [] : [[kind, object]]);
    }
    case "pods":
      return new Map(
        [...cluster.pods.keys()].flatMap((set) =>
          podsIn(cluster, set).map((pod) => [pod.metadata?.name ?? "", pod] as const),
        ),
      );
    default: {
      const objects: ReadonlyMap<string, Seen> = cluster[kind satisfies ChildMap];
      return new Map([...objects].filter(([, { metadata }]) => metadata?.labels?.[LABEL.engine] !== undefined));
    }
  }
}
