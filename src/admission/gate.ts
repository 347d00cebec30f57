// How many requests the webhook server judges at a time. A place is taken by a request whose body has arrived, never by one that
// only announces it. Requests beyond the limit wait in line, those of known connections ahead of all others; past the end of the
// line they are turned away.

export interface GateLimits {
  /** Requests that are judged at the same time. */
  readonly requests: number;
  /** Bytes of bodies that have arrived and are still needed. */
  readonly bytes: number;
  /** Requests in line, of known connections and of others each. */
  readonly waiting: number;
}

/** Whether the connection of a request has had a response to a review before. The API server keeps its connections. */
export type Standing = "known" | "stranger";

interface Waiting {
  readonly enter: () => void;
}

export class Gate {
  readonly #limits: GateLimits;
  readonly #lines: Readonly<Record<Standing, Waiting[]>> = { known: [], stranger: [] };
  #requests = 0;

  constructor(limits: GateLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#lines.known.length + this.#lines.stranger.length;
  }

  get inside(): number {
    return this.#requests;
  }

  /** Resolves with the way out once there is a place; "full" when not even the line has room. Rejects when the signal fires. */
  enter(standing: Standing, signal: AbortSignal): Promise<(() => void) | "full"> {
    if (this.#requests < this.#limits.requests) return Promise.resolve(this.#admit());
    const line = this.#lines[standing];
    if (line.length >= this.#limits.waiting) return Promise.resolve("full");
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        line.splice(line.indexOf(entry), 1);
        reject(signal.reason);
      };
      const entry: Waiting = {
        enter: () => {
          signal.removeEventListener("abort", onAbort);
          resolve(this.#admit());
        },
      };
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      line.push(entry);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #admit(): () => void {
    this.#requests += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#requests -= 1;
      (this.#lines.known.shift() ?? this.#lines.stranger.shift())?.enter();
    };
  }
}
