// A controller is a value: what it watches, how an event maps to keys, and one reconcile function that gets a key, never an event.
import type { CacheEvent, ObjectCache } from "../cache/cache.ts";
import type { Logger } from "../core/logger.ts";
import type { KubeObject, ObjectKey } from "../core/object.ts";

/**
 * How a pass ends: look again when something changes, at once (through the key's back-off), or after a while at the latest. From a
 * minute on the while is spread by up to a tenth (see spread.ts): many keys at rest are not reconciled in one burst.
 */
export type NextCheck = "onChange" | "requeue" | { readonly afterMs: number };

/** What the runtime gives one pass besides its key. */
export interface Pass {
  /** Unique per pass; `reconcileID` in every line the pass logs. */
  readonly id: string;
  /** Adds controller, namespace, name and reconcileID to every line. */
  readonly logger: Logger;
  /** A pass that legitimately takes minutes calls this now and then; otherwise it counts as stuck after ten. */
  heartbeat(): void;
}

/** The signal fires when the process stops: the pass ends at its next await. A pass that is cut anywhere must be repeatable. */
export type Reconcile = (key: ObjectKey, signal: AbortSignal, pass: Pass) => Promise<NextCheck>;

/** The pass failed and knows when it makes sense to try again: counted and logged like any failure, without its growing back-off. */
export class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";
  readonly afterMs: number;

  constructor(message: string, { afterMs, cause }: { readonly afterMs: number; readonly cause: unknown }) {
    super(message, { cause });
    this.afterMs = afterMs;
  }
}

/** Trying again cannot help until something changes: the pass is counted and logged, and its key is not retried. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}

/** One source of keys. Built by `watch(cache, mapping)` so that T stays inside. */
export interface WatchSource {
  readonly describe: string;
  start(enqueue: (key: ObjectKey) => void): () => void;
  whenSynced(signal: AbortSignal): Promise<void>;
}

/** A controller is a value: what it watches, how many keys it works on at once, and one reconcile function. */
export interface Controller {
  readonly name: string;
  readonly watches: readonly WatchSource[];
  readonly reconcile: Reconcile;
  /** How many keys at once; never two passes on one key. Default 1. */
  readonly concurrency?: number;
}

/** Watches a cache; the mapping says which keys an event concerns (none to ignore it). */
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
