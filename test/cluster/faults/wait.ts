// How faults wait: rarely enough that forty of them do not keep the API server busy, and only so many at a time begin with what costs
// the node most.
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 1_000;
const PATIENCE_MS = 120_000;
/** What these tests alone keep waiting for each processor. */
const USUAL_LOAD = 8;

/** How many times longer than usual everything takes, because of what else runs on the machine. */
const slowness = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism() / USUAL_LOAD);

/** Runs `check` every second until it does not throw; returns what it returned. On a machine that is too busy, time counts for less. */
export async function until<T>(describe: string, check: () => Promise<T>, timeoutMs = PATIENCE_MS): Promise<T> {
  let spentMs = 0;
  for (;;) {
    const startedMs = performance.now();
    try {
      return await check();
    } catch (error) {
      if (spentMs > timeoutMs) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`${describe} did not come true within ${timeoutMs} ms: ${why}`, { cause: error });
      }
    }
    await sleep(POLL_MS);
    spentMs += (performance.now() - startedMs) / slowness();
  }
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
