// A clock that a test advances by hand.
import type { Clock } from "../core/clock.ts";

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** A clock that a test advances by hand. */
export class ManualClock implements Clock {
  #elapsedMs = 0;
  readonly #startMs: number;
  readonly #timers = new Set<Timer>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#startMs = startMs;
  }

  now(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#elapsedMs + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers that have not fired. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Advances the time, firing timers in order and letting promises settle after each. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#elapsedMs + byMs;
    for (;;) {
      await settle();
      let next: Timer | undefined;
      for (const timer of this.#timers)
        if (timer.dueMs <= untilMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer;
      if (next === undefined) break;
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      this.#timers.delete(next);
      next.callback();
    }
    this.#elapsedMs = untilMs;
    await settle();
  }
}

/** Lets every promise that can settle do so. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
