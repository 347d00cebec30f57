// What the manager starts and stops. A runnable does nothing before `run` is called and ends when its signal fires.
import type { ObjectCache } from "../cache/cache.ts";
import type { KubeObject } from "../core/object.ts";
import { resourceText } from "../core/resource.ts";

/**
 * Start order; stopping goes the other way. Everything up to "background" runs in every replica, "election" waits for the
 * lease, and what comes after it runs only in the leader. "leader-services" (the event recorder) outlive the controllers.
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

/** What a manager starts and stops. It does nothing before `run`, and ends when its signal fires. */
export interface Runnable {
  /** Unique in its manager; the name of its checks. */
  readonly name: string;
  readonly group: Group;
  /** Runs until the signal fires. Ending earlier, or rejecting, stops the whole manager. */
  run(signal: AbortSignal): Promise<void>;
  /** The next group starts when this has resolved: listening, synced, leading. Absent: at once. */
  whenReady?(signal: AbortSignal): Promise<void>;
  /** Called when the lease has been won, before leader-only work starts: resolves when what it shows is as new as the call. */
  refresh?(signal: AbortSignal): Promise<void>;
  /** For `/healthz`: why the process should be restarted, if it should. */
  problem?(): string | undefined;
  /** Called instead of a clean stop when leader-only work did not end in time: must not tell others to take over. */
  abandon?(): void;
}

/** A watch cache as a runnable: ready when its first list is complete. Two caches of one kind need names of their own. */
export function cacheRunnable<T extends KubeObject>(
  cache: ObjectCache<T>,
  name = `cache-${resourceText(cache.type)}`,
): Runnable {
  return {
    name,
    group: "caches",
    run: (signal) => cache.run(signal),
    whenReady: (signal) => cache.whenSynced(signal),
    refresh: (signal) => cache.refresh(signal),
  };
}
