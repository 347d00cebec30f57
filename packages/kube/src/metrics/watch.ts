// How the watches behind the caches fare: complete lists, connections that were taken up again, attempts that failed. Under names
// that controller dashboards may know. The registry is the caller's; without one nothing is recorded.
import { Counter, type Registry } from "prom-client";
import type { CacheObserver } from "../cache/cache.ts";

/** The observer for one cache; caches of the same kind may share a name. */
export type WatchMetrics = (name: string) => CacheObserver;

/** The series of watch caches. */
export function createWatchMetrics(registry: Registry | undefined): WatchMetrics {
  if (registry === undefined) return () => ({});
  const labelled = { registers: [registry], labelNames: ["name"] as const };
  const lists = new Counter({ ...labelled, name: "reflector_lists_total", help: "Complete lists of a kind." });
  const resumed = new Counter({
    ...labelled,
    name: "reflector_watch_restarts_total",
    help: "Watches that were continued on a new connection.",
  });
  const failures = new Counter({
    ...labelled,
    name: "reflector_failures_total",
    help: "Lists and watches that failed and are tried again.",
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
