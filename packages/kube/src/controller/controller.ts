// A controller is a value: what it watches, how an event maps to keys, and one reconcile function that takes a key.
import type { CacheEvent, ObjectCache } from "../cache/cache.ts";
import type { Logger } from "../core/logger.ts";
import type { KubeObject, ObjectKey } from "../core/object.ts";

/**
 * When the key is reconciled again: on the next event ("onChange"), at once with the key's back-off ("requeue"), or
 * after `afterMs` at the latest. Delays of a minute and more are spread by up to a tenth, so that many idle keys are
 * not reconciled in one burst.
 */
export type NextCheck = "onChange" | "requeue" | { readonly afterMs: number };

/** What the runtime passes to one reconcile besides its key. A pass is one run of reconcile. */
export interface Pass {
  /** Unique per pass; logged as `reconcileID` in every line of the pass. */
  readonly id: string;
  /** Adds controller, namespace, name and reconcileID to every line. */
  readonly logger: Logger;
  /** Call this from a pass that legitimately takes minutes; otherwise it counts as stuck after ten. */
  heartbeat(): void;
}

/** Reconciles one key. The signal fires on shutdown; a pass interrupted at any point must be repeatable. */
export type Reconcile = (key: ObjectKey, signal: AbortSignal, pass: Pass) => Promise<NextCheck>;

/**
 * The pass failed and knows when a retry makes sense: logged and counted as an error, retried without growing back-off.
 */
export class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";
  readonly afterMs: number;

  constructor(message: string, { afterMs, cause }: { readonly afterMs: number; readonly cause: unknown }) {
    super(message, { cause });
    this.afterMs = afterMs;
  }
}

/** A retry cannot help until something changes: the pass is logged and counted, and its key is not requeued. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

/** One source of keys. Created by `watch(cache, mapping)`, which hides the type of the objects. */
export interface WatchSource {
  readonly describe: string;
  start(enqueue: (key: ObjectKey) => void): () => void;
  whenSynced(signal: AbortSignal): Promise<void>;
}

/** A controller is a value: what it watches, how many keys it reconciles concurrently, and one reconcile function. */
export interface Controller {
  readonly name: string;
  readonly watches: readonly WatchSource[];
  readonly reconcile: Reconcile;
  /** How many keys are reconciled concurrently; a key is never reconciled twice at the same time. Default 1. */
  readonly concurrency?: number;
}

/** Watches a cache; the mapping returns the keys that an event enqueues (none to ignore it). */
export function watch<T extends KubeObject>(
  cache: ObjectCache<T>,
  keysOf: (event: CacheEvent<T>) => readonly ObjectKey[],
): WatchSource {
  return {
    describe: cache.type.kind,
    start: (enqueue) => cache.onEvent((event) => keysOf(event).forEach(enqueue)),
    whenSynced: (signal) => cache.whenSynced(signal),
  };
}
