// The objects of one cache with their indexes, and the only place where they change. A batch becomes visible as a whole
// before listeners receive it. Callers decide which change applies (old or new, list or write).
import type { Logger } from "../core/logger.ts";
import type { DeepReadonly, KubeObject, ObjectKey } from "../core/object.ts";
import type { CacheEvent } from "./cache.ts";
import { EntryBucket, type IndexFunction, StoreIndex } from "./store-index.ts";
import type { Entry } from "./stored-object.ts";
import { Tombstones } from "./tombstones.ts";

export interface StoreOptions<T extends KubeObject> {
  readonly indexes: Readonly<Record<string, IndexFunction<T>>>;
  readonly logger: Logger;
  /** Whether a label or field selector excludes objects. */
  readonly selective: boolean;
  /** Receives every batch after it has taken effect, in order. */
  readonly emit: (events: readonly CacheEvent<T>[]) => void;
}

interface Namespace<T extends KubeObject> {
  readonly byName: Map<string, Entry<T>>;
  readonly bucket: EntryBucket<T>;
}

export class ObjectStore<T extends KubeObject> {
  readonly tombstones: Tombstones;
  readonly #namespaces = new Map<string, Namespace<T>>();
  readonly #indexes = new Map<string, StoreIndex<T>>();
  readonly #emit: StoreOptions<T>["emit"];
  #size = 0;

  constructor(options: StoreOptions<T>) {
    this.#emit = options.emit;
    this.tombstones = new Tombstones(!options.selective);
    for (const [name, file] of Object.entries(options.indexes))
      this.#indexes.set(name, new StoreIndex(name, file, options.logger));
  }

  get size(): number {
    return this.#size;
  }

  get(key: ObjectKey): Entry<T> | undefined {
    return this.#namespaces.get(key.namespace ?? "")?.byName.get(key.name);
  }

  /** The entries of one namespace, or all. A copy: the store may change during iteration. */
  entries(namespace?: string): readonly Entry<T>[] {
    if (namespace !== undefined) return [...(this.#namespaces.get(namespace)?.byName.values() ?? [])];
    return [...this.#namespaces.values()].flatMap(({ byName }) => [...byName.values()]);
  }

  list(namespace?: string): readonly DeepReadonly<T>[] {
    if (namespace !== undefined) return this.#namespaces.get(namespace)?.bucket.objects() ?? [];
    const names = [...this.#namespaces.keys()].sort();
    return names.flatMap((name) => this.#namespaces.get(name)?.bucket.objects() ?? []);
  }

  byIndex(index: string, value: string): readonly DeepReadonly<T>[] {
    const found = this.#indexes.get(index);
    if (found === undefined) throw new RangeError(`no index named ${index}`);
    return found.objects(value);
  }

  /** Makes the changes, then emits them as events. */
  change(origin: CacheEvent<T>["origin"], make: (batch: Batch<T>) => void): void {
    const events: CacheEvent<T>[] = [];
    make({
      put: (entry) => this.#put(entry, origin, events),
      remove: (entry, last = entry) => {
        this.#delete(entry);
        events.push({ type: "deleted", object: last.object, previous: entry.object, origin });
      },
    });
    if (events.length > 0) this.#emit(events);
  }

  #put(entry: Entry<T>, origin: CacheEvent<T>["origin"], events: CacheEvent<T>[]): void {
    const { object } = entry;
    const stored = this.get(entry);
    if (stored !== undefined) this.#delete(stored);
    this.#add(entry);
    if (stored === undefined) {
      events.push({ type: "added", object, origin });
    } else if (stored.uid === entry.uid) {
      events.push({ type: "modified", object, previous: stored.object, origin });
    } else {
      // Same name, different object: listeners that track the old one must see its deletion.
      events.push({ type: "deleted", object: stored.object, previous: stored.object, origin });
      events.push({ type: "added", object, origin });
    }
  }

  #add(entry: Entry<T>): void {
    let namespace = this.#namespaces.get(entry.namespace);
    if (namespace === undefined) {
      namespace = { byName: new Map(), bucket: new EntryBucket() };
      this.#namespaces.set(entry.namespace, namespace);
    }
    namespace.byName.set(entry.name, entry);
    namespace.bucket.add(entry);
    this.#size += 1;
    for (const index of this.#indexes.values()) index.add(entry);
  }

  #delete(entry: Entry<T>): void {
    const namespace = this.#namespaces.get(entry.namespace);
    if (namespace === undefined) return;
    namespace.byName.delete(entry.name);
    namespace.bucket.delete(entry);
    if (namespace.byName.size === 0) this.#namespaces.delete(entry.namespace);
    this.#size -= 1;
    for (const index of this.#indexes.values()) index.remove(entry);
  }
}

/**
 * Changes that take effect together. `remove` takes the stored entry, and the last state of the object if it is known.
 */
export interface Batch<T extends KubeObject> {
  readonly put: (entry: Entry<T>) => void;
  readonly remove: (stored: Entry<T>, last?: Entry<T>) => void;
}
