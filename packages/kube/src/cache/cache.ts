// The read side of a controller: objects of one kind, kept current by a watch, shared and read-only.
import type { KubeClient } from "../client/client.ts";
import type { BackoffPolicy } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { DeepReadonly, KubeObject, ObjectKey } from "../core/object.ts";
import type { ResourceType } from "../core/resource.ts";
import type { RelistReason } from "./reflector/states.ts";
import { WatchCache } from "./watch-cache.ts";

/** A change to the contents of a cache. */
export interface CacheEvent<T extends KubeObject> {
  readonly type: "added" | "modified" | "deleted";
  readonly object: DeepReadonly<T>;
  /** The object that the cache held before; absent for "added". */
  readonly previous?: DeepReadonly<T>;
  /** "write": an accepted write of this process was merged before the watch delivered it. */
  readonly origin: "watch" | "write";
}

/** Called for every change, in order. Must not throw. */
export type CacheListener<T extends KubeObject> = (event: CacheEvent<T>) => void;

/** A read-only cache of one kind, shared by all controllers. Only the watch writes to it. */
export interface ObjectCache<T extends KubeObject> {
  readonly type: ResourceType<T>;
  get(key: ObjectKey): DeepReadonly<T> | undefined;
  /** All objects, or those of one namespace. */
  list(namespace?: string): readonly DeepReadonly<T>[];
  /** Objects for which the named index returns the value. */
  byIndex(index: string, value: string): readonly DeepReadonly<T>[];
  readonly size: number;
  /** A listener first receives "added" for every object the cache holds. Returns a function that unsubscribes. */
  onEvent(listener: CacheListener<T>): () => void;
  /** True after the first complete list of every namespace. */
  readonly synced: boolean;
  whenSynced(signal: AbortSignal): Promise<void>;
  /**
   * Resolves when the cache holds a state at least as new as the call: one complete list of every namespace, read on a
   * new connection and swapped in atomically. Concurrent calls share one list. A failed list is retried until the
   * signal fires; a namespace that cannot be read (403, 404) is skipped.
   */
  refresh(signal: AbortSignal): Promise<void>;
  /** Lists and watches until the signal fires. Retries while the server is unavailable; rejects only for a defect. */
  run(signal: AbortSignal): Promise<void>;
}

/** Which objects a cache holds, how it indexes and trims them, and how it is observed. */
export interface CacheOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly type: ResourceType<T>;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** One watch per namespace. Undefined or empty: one watch over all namespaces. */
  readonly namespaces?: readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly indexes?: Readonly<Record<string, (object: DeepReadonly<T>) => readonly string[]>>;
  /**
   * Keeps only the fields that readers need (managedFields are always dropped). Must be pure and keep metadata's
   * identity.
   */
  readonly trim?: (object: T) => T;
  /** Freezes cached objects, so that code which modifies a shared object throws. For tests: it costs time. */
  readonly freeze?: boolean;
  /** False: lists in pages even if the server supports streaming lists. */
  readonly streamingList?: boolean;
  readonly timings?: Partial<CacheTimings>;
  readonly observer?: CacheObserver;
}

/** Timeouts and back-off of a cache. */
export interface CacheTimings {
  /** A watch that receives nothing for this long is closed. Default 150 s: bookmarks arrive about every minute. */
  readonly idleTimeoutMs: number;
  /** A watch whose response headers do not arrive within this long is closed. Default 10 s. */
  readonly openTimeoutMs: number;
  /** Between attempts to reach an unavailable server. Default 0.2 s to 5 s. */
  readonly backoff: BackoffPolicy;
  /** How often a namespace that cannot be read is retried. Default 30 s. */
  readonly unavailableRetryMs: number;
}

/** Metrics hooks of a cache. They must not throw. */
export interface CacheObserver {
  /** A complete list was swapped in. */
  relisted?(reason: RelistReason): void;
  /** The server sent an event. */
  event?(type: "put" | "remove" | "bookmark"): void;
  /** A watch was resumed from a known version on a new connection. */
  resumed?(): void;
  /** An attempt failed and will be retried. */
  failed?(error: unknown): void;
}

/** Creates a cache. It is empty and idle until `run`. Throws LabelSelectorError for an invalid label selector. */
export function createObjectCache<T extends KubeObject>(options: CacheOptions<T>): ObjectCache<T> {
  return new WatchCache(options);
}
