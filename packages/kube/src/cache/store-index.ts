// One secondary index of a cache: objects by the values that a function returns for them. Updated entry by entry; a
// lookup touches only its own bucket. Knows nothing of versions or events.
import type { Logger } from "../core/logger.ts";
import type { DeepReadonly, KubeObject } from "../core/object.ts";
import type { Entry } from "./stored-object.ts";

export type IndexFunction<T extends KubeObject> = (object: DeepReadonly<T>) => readonly string[];

/** Entries of one namespace or index value, read in key order regardless of insertion order. */
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
        // One odd object must not stop the watch. Index functions are pure, so the object is not found on removal
        // either.
        logger.error("index function failed, the object is not indexed", error, { index: name, name: entry.name });
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
  return compareStrings(left.namespace, right.namespace) || compareStrings(left.name, right.name);
}

function compareStrings(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
