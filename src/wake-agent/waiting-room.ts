// The hold queue: requests that wait for an engine. Each waiter is known by itself, not by the engine's name: one that leaves takes nobody with it, and a release
// reaches exactly those who were waiting. The places are shared out between engines.
import type { Clock } from "@firebolt-operator/kube";

/** Why somebody stopped waiting. "displaced": its place was given to an engine that had fewer. */
export type Outcome = "released" | "gone" | "timeout" | "left" | "closing" | "displaced";

interface Waiter {
  readonly end: (outcome: Outcome) => void;
}

export interface WaitOptions {
  readonly engine: string;
  /** How much longer it may wait after having waited for so long. Called again when that has passed; 0 or less ends the waiting. */
  readonly patienceMs: (waitedMs: number) => number;
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

  wait({ engine, patienceMs, left }: WaitOptions): Promise<Outcome> {
    if (left.aborted) return Promise.resolve("left");
    const clock = this.#clock;
    const beganMs = clock.monotonicMs();
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
      const expire = (): void => {
        const moreMs = patienceMs(clock.monotonicMs() - beganMs);
        if (moreMs > 0) cancel = clock.after(moreMs, expire);
        else waiter.end("timeout");
      };
      let cancel = clock.after(patienceMs(0), expire);
      left.addEventListener("abort", onLeft, { once: true });
      this.#add(engine, waiter);
    });
  }

  /** Ends the waiting of everybody who waits for this engine now. */
  release(engine: string, outcome: Outcome): void {
    for (const waiter of [...(this.#waiters.get(engine) ?? [])]) waiter.end(outcome);
  }

  /**
   * Takes a place away from the engine that has the most, if it then still has as many as this one: nobody who asks for one engine
   * can keep out those who ask for another. The newest goes, which has waited least. False: this engine has its share.
   */
  displaceFor(engine: string): boolean {
    let most: readonly [string, number] = ["", this.countOf(engine) + 1];
    for (const [name, waiters] of this.#waiters) if (waiters.size > most[1]) most = [name, waiters.size];
    const newest = [...(this.#waiters.get(most[0]) ?? [])].at(-1);
    newest?.end("displaced");
    return newest !== undefined;
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
