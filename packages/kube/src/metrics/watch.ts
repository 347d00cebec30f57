// Metrics of the watches behind the caches: complete lists, resumed watches, failed attempts. The caller owns the
// registry; without one nothing is recorded.
import { Counter, type Registry } from "prom-client";
import type { CacheObserver } from "../cache/cache.ts";

/** Returns the observer of one cache; caches of the same kind may share a name. */
export type WatchMetrics = (name: string) => CacheObserver;

/** The metrics of watch caches. */
export function createWatchMetrics(registry: Registry | undefined): WatchMetrics {
  if (registry === undefined) return () => ({});
  const labelled = { registers: [registry], labelNames: ["name"] as const };
  const lists = new Counter({ ...labelled, name: "reflector_lists_total", help: "Complete lists of a kind." });
  const resumed = new Counter({
    ...labelled,
    name: "reflector_watch_restarts_total",
    help: "Watches that were resumed on a new connection.",
  });
  const failures = new Counter({
    ...labelled,
    name: "reflector_failures_total",
    help: "Lists and watches that failed and are retried.",
  });
  return (name) => {
    for (const counter of [lists, resumed, failures]) counter.inc({ name }, 0);
    return {
      relisted: () => lists.inc({ name }),
      resumed: () => resumed.inc({ name }),
      failed: () => failures.inc({ name }),
    };
  };
}
