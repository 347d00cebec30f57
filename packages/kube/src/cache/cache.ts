// The read side of the operator: objects of one kind, kept current by a watch, shared and read-only.
import type { KubeClient } from "../client/client.ts";
import type { BackoffPolicy } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { DeepReadonly, KubeObject, ObjectKey } from "../core/object.ts";
import type { ResourceType } from "../core/resource.ts";
import type { RelistReason } from "./reflector/states.ts";
import { WatchCache } from "./watch-cache.ts";

/** One change of what a cache holds. */
export interface CacheEvent<T extends KubeObject> {
  readonly type: "added" | "modified" | "deleted";
  readonly object: DeepReadonly<T>;
  /** What the cache held before; absent for "added". */
  readonly previous?: DeepReadonly<T>;
  /** "write" when the operator's own accepted write was merged before the watch delivered it. */
  readonly origin: "watch" | "write";
}

/** Called for every change, in order. Must not throw. */
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
  /**
   * Resolves when the cache holds a state at least as new as the moment of the call: one complete list of every namespace, swapped
   * in whole, on a new connection. Calls that wait for the same list share it. A list that fails is made again until the signal
   * fires; a namespace that may not be read is not waited for.
   */
  refresh(signal: AbortSignal): Promise<void>;
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
  /** Freezes what is handed out, so that a reader who changes a shared object is caught. For tests: it costs time. */
  readonly freeze?: boolean;
  /** False: pages even where the server offers streaming lists. */
  readonly streamingList?: boolean;
  readonly timings?: Partial<CacheTimings>;
  readonly observer?: CacheObserver;
}

/** How patient a cache is. */
export interface CacheTimings {
  /** A watch in which nothing arrives for this long is given up. Default 150 s: bookmarks come about every minute. */
  readonly idleTimeoutMs: number;
  /** A watch whose response headers do not arrive within this long is given up: they come at once. Default 10 s. */
  readonly openTimeoutMs: number;
  /** Between attempts to reach a server that is away. Default 0.2 s to 30 s. */
  readonly backoff: BackoffPolicy;
  /** How often a namespace that may not be read is tried again. Default 30 s. */
  readonly unavailableRetryMs: number;
}

/** Hooks for metrics. They must not throw. */
export interface CacheObserver {
  /** A complete list has been swapped in. */
  relisted?(reason: RelistReason): void;
  /** The server sent one event. */
  event?(type: "put" | "remove" | "bookmark"): void;
  /** A watch continues from a known version on a new connection. */
  resumed?(): void;
  /** An attempt failed and is made again later. */
  failed?(error: unknown): void;
}

/** Makes a cache. It is empty and idle until `run`. Throws for a label selector that cannot be read. */
export function createObjectCache<T extends KubeObject>(options: CacheOptions<T>): ObjectCache<T> {
  return new WatchCache(options);
}
