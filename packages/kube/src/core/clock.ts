// Time as an argument. Everything that waits takes a Clock, so tests move time by hand instead of sleeping.

/** Time as an argument: tests advance it by hand. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch: for timestamps that leave the process. */
  now(): number;
  /** Never goes back and continues while the process is paused: for measurements and deadlines. */
  monotonicMs(): number;
  /** Calls back once after the delay; returns a function that cancels. */
  after(delayMs: number, callback: () => void): () => void;
}

// Node clamps longer timers to 1 ms, which would turn a distant deadline into a hot loop.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The system's own time. */
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
