// The hold queue: requests that wait for an engine. Waiters are tracked one by one: a client that disconnects affects
// no other, and a release reaches exactly the requests that waited. The slots are shared between engines.
import type { Clock } from "@firebolt-operator/kube";

/** Why a request stopped waiting. "displaced": its slot was given to an engine with fewer slots. */
export type Outcome = "released" | "deleted" | "timeout" | "disconnected" | "shutdown" | "displaced";

interface Waiter {
  readonly end: (outcome: Outcome) => void;
}

export interface WaitOptions {
  readonly engine: string;
  /**
   * How much longer it may wait, given how long it has waited. Called again after that time; 0 or less is the timeout.
   */
  readonly patienceMs: (waitedMs: number) => number;
  /** Fires when the client has disconnected. */
  readonly disconnected: AbortSignal;
}

export class HoldQueue {
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

  wait({ engine, patienceMs, disconnected }: WaitOptions): Promise<Outcome> {
    if (disconnected.aborted) return Promise.resolve("disconnected");
    const clock = this.#clock;
    const beganMs = clock.monotonicMs();
    return new Promise((resolve) => {
      const onDisconnect = (): void => waiter.end("disconnected");
      const waiter: Waiter = {
        end: (outcome) => {
          if (!this.#remove(engine, waiter)) return;
          cancel();
          disconnected.removeEventListener("abort", onDisconnect);
          resolve(outcome);
        },
      };
      const expire = (): void => {
        const moreMs = patienceMs(clock.monotonicMs() - beganMs);
        if (moreMs > 0) cancel = clock.after(moreMs, expire);
        else waiter.end("timeout");
      };
      let cancel = clock.after(patienceMs(0), expire);
      disconnected.addEventListener("abort", onDisconnect, { once: true });
      this.#add(engine, waiter);
    });
  }

  /** Releases every request that waits for this engine now. */
  release(engine: string, outcome: Outcome): void {
    for (const waiter of [...(this.#waiters.get(engine) ?? [])]) waiter.end(outcome);
  }

  /**
   * Displaces a request for the engine that has the most, if that engine then still has as many as this one: requests
   * for one engine cannot keep out those for another. The newest is displaced, which has waited least. False: this
   * engine has its share.
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
