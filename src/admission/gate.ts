// How much the webhook server does at a time: a number of requests and a number of bytes of their bodies. Whoever comes beyond
// that waits in line; past the end of the line requests are turned away. Bodies are read only inside the gate, so what waits
// outside stays in the sender's buffers.

export interface GateLimits {
  /** Requests that are read and judged at the same time. */
  readonly requests: number;
  /** Bytes of their bodies. */
  readonly bytes: number;
  /** Requests in line. */
  readonly waiting: number;
}

interface Waiting {
  readonly bytes: number;
  readonly enter: () => void;
}

export class Gate {
  readonly #limits: GateLimits;
  readonly #line: Waiting[] = [];
  #requests = 0;
  #bytes = 0;

  constructor(limits: GateLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#line.length;
  }

  get inside(): number {
    return this.#requests;
  }

  /** Resolves with the way out once there is room; "full" when not even the line has room. Rejects when the signal fires. */
  enter(bytes: number, signal: AbortSignal): Promise<(() => void) | "full"> {
    if (this.#line.length === 0 && this.#fits(bytes)) return Promise.resolve(this.#admit(bytes));
    if (this.#line.length >= this.#limits.waiting) return Promise.resolve("full");
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#line.splice(this.#line.indexOf(entry), 1);
        reject(signal.reason);
        this.#advance();
      };
      const entry: Waiting = {
        bytes,
        enter: () => {
          signal.removeEventListener("abort", onAbort);
          resolve(this.#admit(bytes));
        },
      };
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      this.#line.push(entry);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** A single body may be larger than the budget; it then goes alone. */
  #fits(bytes: number): boolean {
    if (this.#requests === 0) return true;
    return this.#requests < this.#limits.requests && this.#bytes + bytes <= this.#limits.bytes;
  }

  #admit(bytes: number): () => void {
    this.#requests += 1;
    this.#bytes += bytes;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#requests -= 1;
      this.#bytes -= bytes;
      this.#advance();
    };
  }

  #advance(): void {
    for (let first = this.#line[0]; first !== undefined && this.#fits(first.bytes); first = this.#line[0]) {
      this.#line.shift();
      first.enter();
    }
  }
}
