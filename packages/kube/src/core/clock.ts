// Time as an argument. Everything that waits takes a Clock, so tests move time by hand instead of sleeping.

/** Time as an argument: tests move it by hand. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch: for timestamps that leave the process. */
  now(): number;
  /** Never goes back and does not stop while the process is paused: for measuring and deadlines. */
  monotonicMs(): number;
  /** Calls back once after the delay; returns the way to cancel. */
  after(delayMs: number, callback: () => void): () => void;
}

// Node clamps longer timers to 1 ms, which would turn a far deadline into a hot loop.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Resolves after the delay, or rejects with the signal's reason as soon as it fires. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
