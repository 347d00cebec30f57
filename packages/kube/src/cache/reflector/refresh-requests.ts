// Requests for a state at least as new as now, between the cache that passes them on and the one reflector that serves them. A request
// is served by a complete list that began after it: an earlier one may show what the server held before. It lists nothing itself.
import { untilAborted } from "../../core/until-aborted.ts";

/** Ends whatever the reflector is waiting for: not a failure, the list is due at once. */
export class RefreshRequested extends Error {
  override readonly name = "RefreshRequested";
}

interface Request {
  readonly number: number;
  readonly served: () => void;
}

export class RefreshRequests {
  #made = 0;
  /** The last request that the most recent list was begun for. */
  #begun = 0;
  /** The last request that a list has been completed for. */
  #served = 0;
  #waiting: Request[] = [];
  #interrupt = new AbortController();

  /** True when a list should begin now. A list that is being made for earlier requests is not cut short for later ones. */
  get due(): boolean {
    return this.#made > this.#begun && this.#begun === this.#served;
  }

  /** Fires when a list falls due; a new one after each list. */
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
    if (this.due) this.#interrupt.abort(new RefreshRequested("a newer state is wanted"));
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

  /** The list that began last is complete, or there will be none for now. */
  listEnded(): void {
    this.#served = this.#begun;
    for (const { number, served } of this.#waiting) if (number <= this.#served) served();
  }
}
