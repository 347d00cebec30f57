// The writer that one reflector holds: its namespace (or all) of the store, and the position of its watch. Decides
// whether an event is new, so that the store never shows an older object after a newer one and never loses a deletion.
import { formatKey, type KubeObject } from "../core/object.ts";
import { isNewer, isNotNewer, isOlder } from "../core/resource-version.ts";
import type { ObjectStore } from "./object-store.ts";
import type { Entry } from "./stored-object.ts";

/** A complete list in progress. Nothing of it is visible until it is committed; an abandoned one has no effect. */
export interface Relist<T extends KubeObject> {
  put(entry: Entry<T>): void;
  remove(entry: Entry<T>): void;
  /** `rewound`: the server's history ended before what was already observed, as after a restore of its storage. */
  commit(version: string): { readonly rewound: boolean };
}

/** The writes that a reflector makes to the store. */
export interface ScopeWriter<T extends KubeObject> {
  put(entry: Entry<T>): void;
  remove(entry: Entry<T>): void;
  /** The watch has delivered everything up to this version. */
  bookmark(version: string): void;
  beginRelist(): Relist<T>;
}

/** Forgetting one costs the decoding of one event. */
const MOST_ECHOES = 1_024;

export class StoreScope<T extends KubeObject> implements ScopeWriter<T> {
  readonly namespace: string | undefined;
  readonly #store: ObjectStore<T>;
  /** Versions of this process's own writes that the watch has yet to deliver. */
  readonly #echoes = new Set<string>();
  #position: string | undefined;

  constructor(store: ObjectStore<T>, namespace?: string) {
    this.#store = store;
    this.namespace = namespace;
  }

  /** The version up to which the store holds everything the server has; undefined before the first list. */
  get position(): string | undefined {
    return this.#position;
  }

  /** The store holds this version, or a newer one of the same object: its watch event brings nothing new. */
  expectEcho(version: string): void {
    this.#echoes.add(version);
    const oldest = this.#echoes.size > MOST_ECHOES ? this.#echoes.values().next().value : undefined;
    if (oldest !== undefined) this.#echoes.delete(oldest);
  }

  /** Whether the version was expected. Each version is reported once. */
  isEcho(version: string): boolean {
    return this.#echoes.delete(version);
  }

  put(entry: Entry<T>): void {
    this.#advance(entry.version);
    if (this.#store.tombstones.hides(entry.uid, entry.version)) return;
    const stored = this.#store.get(entry);
    // An own write was merged before the watch delivered it.
    if (stored !== undefined && isNotNewer(entry.version, stored.version)) return;
    this.#store.change("watch", (batch) => batch.put(entry));
  }

  remove(entry: Entry<T>): void {
    this.#advance(entry.version);
    this.#store.tombstones.settle(entry.uid, entry.version);
    const stored = this.#store.get(entry);
    // A newer one stays: created again under the name, or selected again by a write that the watch has yet to deliver.
    if (stored === undefined || isOlder(entry.version, stored.version)) return;
    this.#store.change("watch", (batch) => batch.remove(stored, stored.uid === entry.uid ? entry : stored));
  }

  bookmark(version: string): void {
    this.#advance(version);
    this.#store.tombstones.settleUpTo(this, version);
  }

  beginRelist(): Relist<T> {
    const items = new Map<string, Entry<T>>();
    // Marks made before the list was requested are settled by it; later marks hide objects that the list still
    // contains.
    const since = this.#store.tombstones.sequence;
    return {
      put: (entry) => void items.set(formatKey(entry), entry),
      remove: (entry) => void items.delete(formatKey(entry)),
      commit: (version) => this.#swap(items, version, since),
    };
  }

  #swap(items: ReadonlyMap<string, Entry<T>>, version: string, since: number): { readonly rewound: boolean } {
    const { tombstones } = this.#store;
    const rewound = this.#position !== undefined && isOlder(version, this.#position);
    // After a rewind version numbers are reused: nothing cached can be compared with the list, so the list wins
    // entirely.
    if (rewound) {
      tombstones.clear(this);
      this.#echoes.clear();
    }
    this.#store.change("watch", (batch) => {
      for (const stored of this.#store.entries(this.namespace)) {
        if (items.has(formatKey(stored))) continue;
        // Newer than the list: this process wrote it after the list was taken.
        if (rewound || !isNewer(stored.version, version)) batch.remove(stored);
      }
      for (const entry of items.values()) {
        if (rewound || this.#isNews(entry, version, since)) batch.put(entry);
      }
    });
    this.#position = version;
    tombstones.settleListed(this, since);
    tombstones.settleUpTo(this, version);
    return { rewound };
  }

  #isNews(entry: Entry<T>, listVersion: string, since: number): boolean {
    if (this.#store.tombstones.hides(entry.uid, entry.version, since)) return false;
    const stored = this.#store.get(entry);
    if (stored === undefined) return true;
    if (isNewer(stored.version, listVersion)) return false;
    return stored.uid !== entry.uid || !isNotNewer(entry.version, stored.version);
  }

  #advance(version: string): void {
    if (this.#position === undefined || !isOlder(version, this.#position)) this.#position = version;
  }
}
