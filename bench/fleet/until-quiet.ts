// Waits until an operator sends no more requests: events are written after the change they report, and must not be
// counted in the next measurement.
import { setTimeout as sleep } from "node:timers/promises";
import { addRequests, type RequestCount, total } from "./audit-counter.ts";
import type { Harness } from "./harness.ts";

const WINDOW_MS = 2_000;
/** For a program that holds no lease. */
const SILENT_WINDOWS = 10;
const DEADLINE_MS = 180_000;

/**
 * Waits until the lease was renewed twice without any other request, watches aside; returns the requests since the last
 * count. Silence alone may be a stalled machine: lease renewals show that the operator was running.
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
      throw new Error(`the operator still sends ${JSON.stringify(more.work)} after ${DEADLINE_MS} ms`);
  }
}
