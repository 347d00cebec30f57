// The cache that controllers read: one store, a reflector per namespace that fills it, and the client's own writes
// merged in. Wires these together, logs and counts what they report; makes no decisions about single objects.
import { InvariantError } from "../core/errors.ts";
import { parseLabelSelector } from "../core/label-selector.ts";
import type { Logger } from "../core/logger.ts";
import type { DeepReadonly, KubeObject, ObjectKey } from "../core/object.ts";
import { groupResourceOf, type ResourceType } from "../core/resource.ts";
import { untilAborted } from "../core/until-aborted.ts";
import type { CacheEvent, CacheListener, CacheOptions, ObjectCache } from "./cache.ts";
import { EventHub } from "./event-hub.ts";
import { ObjectStore } from "./object-store.ts";
import { mergeWrite, type OwnWritesOptions } from "./own-writes.ts";
import { createReflectorIo } from "./reflector/io.ts";
import { type ReflectorJournal, reflectorJournal } from "./reflector/journal.ts";
import { runReflector } from "./reflector/reflector.ts";
import { RefreshRequests } from "./reflector/refresh-requests.ts";
import { StoreScope } from "./store-scope.ts";
import { createShaper, type Shaper } from "./stored-object.ts";

export class WatchCache<T extends KubeObject> implements ObjectCache<T> {
  readonly type: ResourceType<T>;
  readonly #options: CacheOptions<T>;
  readonly #logger: Logger;
  readonly #hub: EventHub<T>;
  readonly #store: ObjectStore<T>;
  readonly #shape: Shaper<T>;
  readonly #scopes: readonly StoreScope<T>[];
  readonly #ownWrites: OwnWritesOptions<T>;
  readonly #refreshes: ReadonlyMap<StoreScope<T>, RefreshRequests>;
  readonly #unsynced: Set<StoreScope<T>>;
  readonly #whenSynced = Promise.withResolvers<void>();
  #streamingOffered: boolean;
  #running = false;

  constructor(options: CacheOptions<T>) {
    const { type } = options;
    this.type = type;
    this.#options = options;
    this.#logger = options.logger.with({ resource: groupResourceOf(type) });
    this.#hub = new EventHub((error, { type: event }) => this.#logger.error("cache listener failed", error, { event }));
    this.#store = new ObjectStore({
      indexes: options.indexes ?? {},
      logger: this.#logger,
      selective: Boolean(options.labelSelector) || Boolean(options.fieldSelector),
      emit: (events) => this.#hub.emit(events),
    });
    this.#shape = createShaper({ type, logger: this.#logger, trim: options.trim, freeze: options.freeze });
    const namespaces = type.namespaced ? [...new Set(options.namespaces)] : [];
    this.#scopes =
      namespaces.length === 0
        ? [new StoreScope(this.#store)]
        : namespaces.map((namespace) => new StoreScope(this.#store, namespace));
    this.#refreshes = new Map(this.#scopes.map((scope) => [scope, new RefreshRequests()]));
    this.#unsynced = new Set(this.#scopes);
    this.#streamingOffered = options.streamingList ?? true;
    this.#ownWrites = {
      type,
      store: this.#store,
      shape: this.#shape,
      scopeOf: (namespace) => this.#scopeOf(namespace),
      labelSelector: parseLabelSelector(options.labelSelector ?? ""),
      hasFieldSelector: Boolean(options.fieldSelector),
    };
  }

  get size(): number {
    return this.#store.size;
  }

  get synced(): boolean {
    return this.#unsynced.size === 0;
  }

  get(key: ObjectKey): DeepReadonly<T> | undefined {
    return this.#store.get(key)?.object;
  }

  list(namespace?: string): readonly DeepReadonly<T>[] {
    return this.#store.list(namespace);
  }

  byIndex(index: string, value: string): readonly DeepReadonly<T>[] {
    return this.#store.byIndex(index, value);
  }

  onEvent(listener: CacheListener<T>): () => void {
    const present = this.list().map((object): CacheEvent<T> => ({ type: "added", object, origin: "watch" }));
    return this.#hub.subscribe(listener, present);
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return untilAborted(this.#whenSynced.promise, signal);
  }

  async refresh(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#refreshes.values()].map((refreshes) => refreshes.request(signal)));
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) throw new InvariantError(`the cache of ${groupResourceOf(this.type)} is already running`);
    this.#running = true;
    const unsubscribe = this.#options.client.onWrite((write) => mergeWrite(write, this.#ownWrites));
    // If one reflector fails because of a bug, the others stop too: half a cache is worse than none.
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    try {
      const running = [...this.#refreshes].map(([scope, refreshes]) => this.#reflect(scope, refreshes, stop));
      const ended = await Promise.allSettled(running);
      for (const end of ended) if (end.status === "rejected") throw end.reason;
    } finally {
      signal.removeEventListener("abort", onAbort);
      unsubscribe();
      this.#running = false;
    }
  }

  async #reflect(scope: StoreScope<T>, refreshes: RefreshRequests, stop: AbortController): Promise<void> {
    const io = createReflectorIo({
      options: this.#options,
      scope,
      shape: this.#shape,
      signal: stop.signal,
      refreshes,
      streamingOffered: () => this.#streamingOffered,
      report: reflectorJournal(this.#journal(scope)),
    });
    try {
      await runReflector(io);
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  }

  #journal(scope: StoreScope<T>): ReflectorJournal {
    return {
      logger: scope.namespace === undefined ? this.#logger : this.#logger.with({ namespace: scope.namespace }),
      observer: this.#options.observer ?? {},
      onSettled: () => {
        if (this.#unsynced.delete(scope) && this.synced) this.#whenSynced.resolve();
      },
      onStreamingUnsupported: () => {
        this.#streamingOffered = false;
      },
    };
  }

  #scopeOf(namespace: string): StoreScope<T> | undefined {
    return this.#scopes.find((scope) => scope.namespace === undefined || scope.namespace === namespace);
  }
}
