// What the manager starts and stops. A runnable does nothing before `run` is called and returns when its signal fires.
import type { ObjectCache } from "../cache/cache.ts";
import type { KubeObject } from "../core/object.ts";
import { groupResourceOf } from "../core/resource.ts";

/**
 * Start order; groups stop in reverse. Everything up to "background" runs in every replica, "election" waits for the
 * lease, and later groups run only in the leader. "leader-services" (the event recorder) outlive the controllers.
 */
export const GROUPS = [
  "probes",
  "servers",
  "caches",
  "background",
  "election",
  "leader-services",
  "controllers",
] as const;

/** When a runnable is started; see the table in README.md. */
export type Group = (typeof GROUPS)[number];

/** A part that a manager starts and stops. It does nothing before `run`, and returns when its signal fires. */
export interface Runnable {
  /** Unique in its manager; also the name of its health and ready checks. */
  readonly name: string;
  readonly group: Group;
  /** Runs until the signal fires. Returning earlier, or rejecting, stops the whole manager. */
  run(signal: AbortSignal): Promise<void>;
  /** The next group starts when this has resolved: listening, synced, leading. Absent: ready at once. */
  whenReady?(signal: AbortSignal): Promise<void>;
  /** Called after the lease is won, before leader-only work starts: resolves when its state is as new as the call. */
  refresh?(signal: AbortSignal): Promise<void>;
  /** For `/healthz`: why the process should be restarted; undefined if it is healthy. */
  problem?(): string | undefined;
  /**
   * Called instead of a clean stop when leader-only work did not stop in time: must not let another replica take over.
   */
  abandon?(): void;
}

/** A watch cache as a runnable: ready when its first list is complete. Two caches of one kind need different names. */
export function cacheRunnable<T extends KubeObject>(
  cache: ObjectCache<T>,
  name = `cache-${groupResourceOf(cache.type)}`,
): Runnable {
  return {
    name,
    group: "caches",
    run: (signal) => cache.run(signal),
    whenReady: (signal) => cache.whenSynced(signal),
    refresh: (signal) => cache.refresh(signal),
  };
}
