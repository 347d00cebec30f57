// Real time, moved: the wall clock is shifted by years while timers run as they are, except those that a shift makes due. For code that
// plans in years and is called by servers that live in the present.
import { type Clock, systemClock } from "@firebolt-operator/kube";

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

export class ShiftedClock implements Clock {
  #shiftMs: number;
  readonly #timers = new Set<Timer>();

  constructor(shiftMs: number) {
    this.#shiftMs = shiftMs;
  }

  now(): number {
    return Date.now() + this.#shiftMs;
  }

  monotonicMs(): number {
    return systemClock.monotonicMs();
  }

  after(delayMs: number, callback: () => void): () => void {
    const cancel = systemClock.after(delayMs, () => timer.fire());
    const timer: Timer = {
      dueMs: this.now() + delayMs,
      fire: () => {
        cancel();
        if (this.#timers.delete(timer)) callback();
      },
    };
    this.#timers.add(timer);
    return () => {
      cancel();
      this.#timers.delete(timer);
    };
  }

  /** `shiftMs` is from now on the distance to real time. */
  shiftTo(shiftMs: number): void {
    this.#shiftMs = shiftMs;
    for (const timer of [...this.#timers]) if (timer.dueMs <= this.now()) timer.fire();
  }
}
