// A client-side limit on requests per second. Computes delays; the caller waits.
import type { Clock } from "../core/clock.ts";

export interface TokenBucketOptions {
  readonly clock: Clock;
  /** Requests per second in the long run. */
  readonly qps: number;
  /** Requests that may be sent at once after a quiet period; at least 1. */
  readonly burst: number;
}

export class TokenBucket {
  readonly #clock: Clock;
  readonly #qps: number;
  readonly #burst: number;
  #tokens: number;
  #filledMs: number;

  constructor(options: TokenBucketOptions) {
    if (!(options.qps > 0)) throw new RangeError(`qps must be above 0, not ${options.qps}`);
    this.#clock = options.clock;
    this.#qps = options.qps;
    this.#burst = Math.max(1, options.burst);
    this.#tokens = this.#burst;
    this.#filledMs = options.clock.monotonicMs();
  }

  /** Takes one token and returns the delay until it exists. Tokens go below zero, so waiters keep their order. */
  reserve(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#filledMs) / 1000) * this.#qps);
    this.#filledMs = nowMs;
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#qps) * 1000;
  }
}
