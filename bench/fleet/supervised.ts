// A process that is restarted whenever it exits, as the kubelet does: at once the first time, then after 10, 20, 40 s
// and so on.
import { setTimeout as sleep } from "node:timers/promises";
import type { Harness } from "./harness.ts";
import { type Operator, type OwnOptions, startOwnOperator } from "./operator.ts";

export interface Supervised extends AsyncDisposable {
  /** Number of restarts. */
  readonly restarts: number;
  /** The running process, or the last one. */
  readonly operator: Operator;
}

const FIRST_BACKOFF_MS = 10_000;
const LONGEST_BACKOFF_MS = 300_000;
const LOOK_MS = 50;

/** The first start has to succeed. */
export async function supervise(harness: Harness, options: OwnOptions): Promise<Supervised> {
  let operator = await startOwnOperator(harness, options);
  let restarts = 0;
  const stop = new AbortController();
  const { signal } = stop;
  const watching = (async (): Promise<void> => {
    let backoffMs = 0;
    while (!signal.aborted) {
      if (isRunning(operator)) {
        await pause(LOOK_MS, signal);
        continue;
      }
      await pause(backoffMs, signal);
      if (signal.aborted) return;
      backoffMs = Math.min(LONGEST_BACKOFF_MS, backoffMs === 0 ? FIRST_BACKOFF_MS : backoffMs * 2);
      restarts += 1;
      operator = await startOwnOperator(harness, { ...options, waitForReady: false });
    }
  })();
  return {
    get restarts() {
      return restarts;
    },
    get operator() {
      return operator;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
      await operator.stop();
    },
  };
}

function isRunning(operator: Operator): boolean {
  try {
    operator.assertRunning();
    return true;
  } catch {
    // The process has exited: restart it below.
    return false;
  }
}

async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(delayMs, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
