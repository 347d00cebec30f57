// An interruptible pause: for loops that poll, and poll at once when called. A call made while nothing waits is
// remembered, once.
import type { Clock } from "./clock.ts";

/** An interruptible pause. A call made while nothing waits ends the next wait at once. */
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
