// A pause that somebody can cut short: for loops that look at something now and then, and at once when told to.
// Calls that come while nobody waits are remembered, once.
import type { Clock } from "./clock.ts";

/** A pause that a call cuts short. A call that comes while nothing waits is remembered, once. */
export class WakeUp {
  readonly #clock: Clock;
  #called = false;
  #end: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  call(): void {
    this.#called = true;
    this.#end?.();
  }

  /** Resolves after the delay, when called, or when the signal fires, whichever is first. */
  wait(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener("abort", end);
        this.#end = undefined;
        this.#called = false;
        resolve();
      };
      const cancel = this.#clock.after(delayMs, end);
      this.#end = end;
      signal.addEventListener("abort", end, { once: true });
      if (this.#called || signal.aborted) end();
    });
  }
}
