// Waits until an operator has nothing left to ask of the API server, so that what is counted next is its own and nothing before it.
import { setTimeout as sleep } from "node:timers/promises";
import { total } from "./audit-counter.ts";
import type { Harness } from "./harness.ts";

const WINDOW_MS = 2_000;
const DEADLINE_MS = 60_000;

/** Returns after a window without any request; watches and the lease aside. */
export async function untilQuiet({ audit }: Pick<Harness, "audit">, windowMs = WINDOW_MS): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  audit.take();
  for (;;) {
    await sleep(windowMs);
    const { work, serving } = audit.take();
    if (total(work) + total(serving) === 0) return;
    if (performance.now() > deadlineMs)
      throw new Error(`the operator still asks for ${JSON.stringify(work)} after ${DEADLINE_MS} ms`);
  }
}
