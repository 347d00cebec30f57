// How faults wait: rarely enough that thirty of them do not keep the API server busy, and only so many at a time begin with what costs
// the node most.
import { eventually } from "../../../support/cluster.ts";

const POLL_MS = 1_000;
const PATIENCE_MS = 120_000;

/** Runs `check` every second until it does not throw; returns what it returned. */
export function until<T>(describe: string, check: () => Promise<T>, timeoutMs = PATIENCE_MS) {
  return eventually(check, { describe, timeoutMs, pollMs: POLL_MS });
}

export type Gate = <T>(task: () => Promise<T>, urgent?: boolean) => Promise<T>;

/** Runs so many tasks at a time, in the order in which they come, but urgent ones first. */
export function createGate(places: number): Gate {
  const waiting: (() => void)[] = [];
  let free = places;
  return async (task, urgent = false) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => (urgent ? waiting.unshift(resolve) : waiting.push(resolve)));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
