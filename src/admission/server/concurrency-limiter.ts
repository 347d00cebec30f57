// Limits how many requests the webhook server validates at a time. Only a request whose body has arrived takes a slot.
// Requests beyond the limit wait in a queue, those of known connections first; when the queue is full they are
// rejected.

export interface AdmissionLimits {
  /** Requests that are validated at the same time. */
  readonly requests: number;
  /** Bytes of bodies that have arrived and are still needed. */
  readonly bytes: number;
  /** Longest queue, for known and for unknown connections each. */
  readonly waiting: number;
}

/** Known: the connection has had a response to a review before. The API server reuses its connections. */
export type Connection = "known" | "unknown";

interface Waiting {
  readonly start: () => void;
}

export class ConcurrencyLimiter {
  readonly #limits: AdmissionLimits;
  readonly #queues: Readonly<Record<Connection, Waiting[]>> = { known: [], unknown: [] };
  #requests = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#queues.known.length + this.#queues.unknown.length;
  }

  get running(): number {
    return this.#requests;
  }

  /** Resolves with the release of a slot, or with "full" when the queue is full. Rejects when the signal fires. */
  acquire(connection: Connection, signal: AbortSignal): Promise<(() => void) | "full"> {
    if (this.#requests < this.#limits.requests) return Promise.resolve(this.#take());
    const queue = this.#queues[connection];
    if (queue.length >= this.#limits.waiting) return Promise.resolve("full");
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        queue.splice(queue.indexOf(entry), 1);
        reject(signal.reason);
      };
      const entry: Waiting = {
        start: () => {
          signal.removeEventListener("abort", onAbort);
          resolve(this.#take());
        },
      };
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      queue.push(entry);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #take(): () => void {
    this.#requests += 1;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#requests -= 1;
      (this.#queues.known.shift() ?? this.#queues.unknown.shift())?.start();
    };
  }
}
