// One secondary index of the cache: which objects a function files under which values. Kept entry by entry; a look-up touches
// only its own bucket. Knows nothing of versions or events.
import type { Logger } from "../core/logger.ts";
import type { DeepReadonly, KubeObject } from "../core/object.ts";
import type { Entry } from "./stored-object.ts";

export type IndexFunction<T extends KubeObject> = (object: DeepReadonly<T>) => readonly string[];

/** Entries of one namespace or index value, read in the order of their keys whatever the order they came in. */
export class EntryBucket<T extends KubeObject> {
  readonly #entries = new Set<Entry<T>>();
  #view: readonly DeepReadonly<T>[] | undefined;

  get size(): number {
    return this.#entries.size;
  }

  add(entry: Entry<T>): void {
    this.#entries.add(entry);
    this.#view = undefined;
  }

  delete(entry: Entry<T>): void {
    if (this.#entries.delete(entry)) this.#view = undefined;
  }

  objects(): readonly DeepReadonly<T>[] {
    this.#view ??= [...this.#entries].sort(byKey).map((entry) => entry.object);
    return this.#view;
  }
}

export class StoreIndex<T extends KubeObject> {
  readonly #buckets = new Map<string, EntryBucket<T>>();
  readonly #valuesOf: (entry: Entry<T>) => Iterable<string>;

  constructor(name: string, file: IndexFunction<T>, logger: Logger) {
    this.#valuesOf = (entry) => {
      try {
        return new Set(file(entry.object));
      } catch (error) {
        // One odd object must not stop the watch for all others. Index functions are pure, so it is not filed when removed either.
        logger.error("index function failed; the object is not in the index", error, { index: name, name: entry.name });
        return [];
      }
    };
  }

  add(entry: Entry<T>): void {
    for (const value of this.#valuesOf(entry)) {
      let bucket = this.#buckets.get(value);
      if (bucket === undefined) {
        bucket = new EntryBucket();
        this.#buckets.set(value, bucket);
      }
      bucket.add(entry);
    }
  }

  remove(entry: Entry<T>): void {
    for (const value of this.#valuesOf(entry)) {
      const bucket = this.#buckets.get(value);
      bucket?.delete(entry);
      if (bucket?.size === 0) this.#buckets.delete(value);
    }
  }

  objects(value: string): readonly DeepReadonly<T>[] {
    return this.#buckets.get(value)?.objects() ?? [];
  }

  /** How many values have at least one object. */
  get values(): number {
    return this.#buckets.size;
  }
}

function byKey(left: Entry<KubeObject>, right: Entry<KubeObject>): number {
  return compareText(left.namespace, right.namespace) || compareText(left.name, right.name);
}

function compareText(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
