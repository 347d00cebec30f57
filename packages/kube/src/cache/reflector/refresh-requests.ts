// Pending refreshes between a cache and one of its reflectors. Only a complete list that began after the request serves
// it: an earlier one may show an older state. Lists nothing itself.
import { untilAborted } from "../../core/until-aborted.ts";

/** Interrupts the reflector's current wait. Not a failure: a list is due at once. */
export class RefreshRequested extends Error {
  override readonly name = "RefreshRequested";
}

interface Request {
  readonly number: number;
  readonly served: () => void;
}

export class RefreshRequests {
  #made = 0;
  /** The latest request that the most recent list was started for. */
  #begun = 0;
  /** The latest request that a list has been completed for. */
  #served = 0;
  #waiting: Request[] = [];
  #interrupt = new AbortController();

  /** True when a list should start now. A list in progress for earlier requests is not interrupted for later ones. */
  get due(): boolean {
    return this.#made > this.#begun && this.#begun === this.#served;
  }

  /** Aborts when a list becomes due; replaced after each list. */
  get interrupt(): AbortSignal {
    return this.#interrupt.signal;
  }

  /** Resolves when a list that began after this call is complete; requests that wait for the same list share it. */
  request(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#made === this.#begun) this.#made += 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    const request = { number: this.#made, served: resolve };
    this.#waiting.push(request);
    if (this.due) this.#interrupt.abort(new RefreshRequested("a refresh was requested"));
    const forget = (): void => {
      this.#waiting = this.#waiting.filter((other) => other !== request);
    };
    return untilAborted(promise, signal).finally(forget);
  }

  /** A list begins: it serves every request made so far. */
  listBegins(): void {
    this.#begun = this.#made;
    if (this.#interrupt.signal.aborted) this.#interrupt = new AbortController();
  }

  /** The most recent list is complete, or will not be made for now. */
  listEnded(): void {
    this.#served = this.#begun;
    for (const { number, served } of this.#waiting) if (number <= this.#served) served();
  }
}
