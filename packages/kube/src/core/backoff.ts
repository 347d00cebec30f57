// Jittered exponential back-off as arithmetic: how long to wait before the next attempt. Waiting itself is the caller's,
// and so is the random source, so that a test can pin both.

export interface BackoffPolicy {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Growth per failure. Default 2. */
  readonly factor?: number;
}

/**
 * The delay after this many failures in a row (0 for the first one): between half of the exponential step and the whole of it,
 * so that many clients thrown off at once do not come back at once, and yet none comes back immediately.
 */
export function backoffMs(policy: BackoffPolicy, failures: number, random: () => number = Math.random): number {
  // A capped exponent: 2 ** 2000 is Infinity, and Infinity times zero jitter would be NaN.
  const steps = Math.min(Math.max(0, failures), 64);
  const stepMs = Math.min(policy.maxMs, policy.baseMs * (policy.factor ?? 2) ** steps);
  return stepMs * (0.5 + random() / 2);
}
