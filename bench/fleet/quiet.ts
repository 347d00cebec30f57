// Waits until an operator has nothing left to ask of the API server: events are written after what they tell, and what is counted next
// must be its own and nothing before it.
import { setTimeout as sleep } from "node:timers/promises";
import { addRequests, type RequestCount, total } from "./audit-counter.ts";
import type { Harness } from "./harness.ts";

const WINDOW_MS = 2_000;
/** For a program that holds no lease. */
const SILENT_WINDOWS = 10;
const DEADLINE_MS = 180_000;

/**
 * Returns when the lease was renewed twice and nothing else was asked for meanwhile, watches aside; answers what was asked since the
 * last count. Silence alone may be a machine that stands still: the lease shows an operator that had its chance to ask.
 */
export async function untilQuiet({ audit }: Pick<Harness, "audit">, windowMs = WINDOW_MS): Promise<RequestCount> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  let all = audit.take();
  let [renewals, silent] = [0, 0];
  for (;;) {
    await sleep(windowMs);
    const more = audit.take();
    all = addRequests(all, more);
    const isSilent = total(more.work) + total(more.serving) === 0;
    [renewals, silent] = isSilent ? [renewals + total(more.lease), silent + 1] : [0, 0];
    if (renewals > 1 || silent >= SILENT_WINDOWS) return all;
    if (performance.now() > deadlineMs)
      throw new Error(`the operator still asks for ${JSON.stringify(more.work)} after ${DEADLINE_MS} ms`);
  }
}
