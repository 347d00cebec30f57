// Waits until an operator has nothing left to ask of the API server: events are written after what they tell, and what is counted next
// must be its own and nothing before it.
import { setTimeout as sleep } from "node:timers/promises";
import { addRequests, type RequestCount, total } from "./audit-counter.ts";
import type { Harness } from "./harness.ts";

const WINDOW_MS = 2_000;
const DEADLINE_MS = 180_000;

/** Returns after a window without any request, watches and the lease aside; answers what was asked since the last count. */
export async function untilQuiet({ audit }: Pick<Harness, "audit">, windowMs = WINDOW_MS): Promise<RequestCount> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  let all = audit.take();
  for (;;) {
    await sleep(windowMs);
    const more = audit.take();
    all = addRequests(all, more);
    if (total(more.work) + total(more.serving) === 0) return all;
    if (performance.now() > deadlineMs)
      throw new Error(`the operator still asks for ${JSON.stringify(more.work)} after ${DEADLINE_MS} ms`);
  }
}
