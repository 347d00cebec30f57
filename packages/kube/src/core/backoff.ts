// Jittered exponential back-off: computes the delay before the next attempt. The caller waits and supplies the random
// source, so that a test can control both.

export interface BackoffPolicy {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Growth per failure. Default 2. */
  readonly factor?: number;
}

/**
 * The delay after this many consecutive failures (0 for the first one): between half of the exponential step and the
 * whole step, so that clients that failed together do not retry together, and none retries immediately.
 */
export function backoffMs(policy: BackoffPolicy, failures: number, random: () => number = Math.random): number {
  // Capped exponent: 2 ** 2000 is Infinity, and Infinity times zero is NaN.
  const steps = Math.min(Math.max(0, failures), 64);
  const stepMs = Math.min(policy.maxMs, policy.baseMs * (policy.factor ?? 2) ** steps);
  return stepMs * (0.5 + random() / 2);
}
