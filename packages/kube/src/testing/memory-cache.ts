// A cache that a unit test fills by hand, with at most one index. No watch, no API server.
import type { CacheEvent, ObjectCache } from "../cache/cache.ts";
import { formatKey, type KubeObject, keyOf, type ObjectKey } from "../core/object.ts";
import type { ResourceType } from "../core/resource.ts";

/** A cache that a test fills by hand: no watch, no API server. */
export class MemoryCache<T extends KubeObject> implements ObjectCache<T> {
  readonly type: ResourceType<T>;
  readonly synced = true;
  readonly #objects = new Map<string, T>();
  readonly #listeners = new Set<(event: CacheEvent<T>) => void>();
  readonly #index: (object: T) => readonly string[];

  constructor(type: ResourceType<T>, index: (object: T) => readonly string[] = () => []) {
    this.type = type;
    this.#index = index;
  }
  get size(): number {
    return this.#objects.size;
  }
  get(key: ObjectKey) {
    return this.#objects.get(formatKey(key)) as ReturnType<ObjectCache<T>["get"]>;
  }
  list(namespace?: string) {
    const found = [...this.#objects.values()].filter(
      ({ metadata }) => namespace === undefined || metadata?.namespace === namespace,
    );
    return found as unknown as ReturnType<ObjectCache<T>["list"]>;
  }
  byIndex(_: string, value: string) {
    const found = [...this.#objects.values()].filter((object) => this.#index(object).includes(value));
    return found as unknown as ReturnType<ObjectCache<T>["byIndex"]>;
  }
  onEvent(listener: (event: CacheEvent<T>) => void): () => void {
    this.#listeners.add(listener);
    for (const object of this.#objects.values()) listener(eventOf("added", object));
    return () => this.#listeners.delete(listener);
  }
  whenSynced(): Promise<void> {
    return Promise.resolve();
  }
  refresh(): Promise<void> {
    return Promise.resolve();
  }
  run(): Promise<void> {
    return Promise.resolve();
  }
  put(object: T): void {
    this.#objects.set(formatKey(keyOf(object)), object);
    this.#notify(eventOf("modified", object));
  }
  remove(key: ObjectKey): void {
    const object = this.#objects.get(formatKey(key));
    this.#objects.delete(formatKey(key));
    if (object !== undefined) this.#notify(eventOf("deleted", object));
  }
  #notify(event: CacheEvent<T>): void {
    for (const listener of this.#listeners) listener(event);
  }
}

function eventOf<T extends KubeObject>(type: CacheEvent<T>["type"], object: T): CacheEvent<T> {
  return { type, object, origin: "watch" } as unknown as CacheEvent<T>;
}
