// The read side of the operator: objects of one kind, kept current by a watch, shared and read-only.
import type { KubeClient } from "./client.ts";
import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";
import type { DeepReadonly, KubeObject, ObjectKey } from "./object.ts";
import type { ResourceType } from "./resource.ts";

export interface CacheEvent<T extends KubeObject> {
  readonly type: "added" | "modified" | "deleted";
  readonly object: DeepReadonly<T>;
  /** What the cache held before; absent for "added". */
  readonly previous?: DeepReadonly<T>;
  /** "write" when the operator's own accepted write was merged before the watch delivered it. */
  readonly origin: "watch" | "write";
}

export type CacheListener<T extends KubeObject> = (event: CacheEvent<T>) => void;

/** What controllers hold: reads only. The watch owns the writer. */
export interface ObjectCache<T extends KubeObject> {
  readonly type: ResourceType<T>;
  get(key: ObjectKey): DeepReadonly<T> | undefined;
  /** All objects, or those of one namespace. */
  list(namespace?: string): readonly DeepReadonly<T>[];
  /** Objects that the named index files under the value. */
  byIndex(index: string, value: string): readonly DeepReadonly<T>[];
  readonly size: number;
  /** A late listener is first told "added" for every object the cache holds. Returns the way to unsubscribe. */
  onEvent(listener: CacheListener<T>): () => void;
  /** True after the first complete list of every namespace. */
  readonly synced: boolean;
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Lists and watches until the signal fires. Rejects only for a defect, never for a server that is away. */
  run(signal: AbortSignal): Promise<void>;
}

export interface CacheOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly type: ResourceType<T>;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** One watch per namespace; undefined or empty: one watch over all. */
  readonly namespaces?: readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly indexes?: Readonly<Record<string, (object: DeepReadonly<T>) => readonly string[]>>;
  /** Keeps only what readers need (managedFields are dropped in any case). Must be pure and keep metadata's identity fields. */
  readonly trim?: (object: T) => T;
}
