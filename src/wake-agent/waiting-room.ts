// The held requests. Each waiter is known by itself, not by the engine's name: one that leaves takes nobody with it, and a release
// reaches exactly those who were waiting.
import type { Clock } from "../kube/clock.ts";

/** Why somebody stopped waiting. */
export type Outcome = "released" | "gone" | "timeout" | "left" | "closing";

interface Waiter {
  readonly end: (outcome: Outcome) => void;
}

export interface WaitOptions {
  readonly engine: string;
  readonly timeoutMs: number;
  /** Fires when the one who asked is no longer there. */
  readonly left: AbortSignal;
}

export class WaitingRoom {
  readonly #clock: Clock;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #size = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#size;
  }

  countOf(engine: string): number {
    return this.#waiters.get(engine)?.size ?? 0;
  }

  engines(): readonly string[] {
    return [...this.#waiters.keys()];
  }

  wait({ engine, timeoutMs, left }: WaitOptions): Promise<Outcome> {
    if (left.aborted) return Promise.resolve("left");
    return new Promise((resolve) => {
      const onLeft = (): void => waiter.end("left");
      const waiter: Waiter = {
        end: (outcome) => {
          if (!this.#remove(engine, waiter)) return;
          cancel();
          left.removeEventListener("abort", onLeft);
          resolve(outcome);
        },
      };
      const cancel = this.#clock.after(timeoutMs, () => waiter.end("timeout"));
      left.addEventListener("abort", onLeft, { once: true });
      this.#add(engine, waiter);
    });
  }

  /** Ends the waiting of everybody who waits for this engine now. */
  release(engine: string, outcome: Outcome): void {
    for (const waiter of [...(this.#waiters.get(engine) ?? [])]) waiter.end(outcome);
  }

  releaseAll(outcome: Outcome): void {
    for (const engine of this.engines()) this.release(engine, outcome);
  }

  #add(engine: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(engine) ?? new Set();
    waiters.add(waiter);
    this.#waiters.set(engine, waiters);
    this.#size++;
  }

  #remove(engine: string, waiter: Waiter): boolean {
    const waiters = this.#waiters.get(engine);
    if (waiters?.delete(waiter) !== true) return false;
    if (waiters.size === 0) this.#waiters.delete(engine);
    this.#size--;
    return true;
  }
}
