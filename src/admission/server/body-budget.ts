// Limits how many bytes of request bodies the webhook server holds. Only bytes that have arrived count: a sender that
// announces a body and sends nothing uses none. When the budget is used up, incomplete bodies are no longer read and
// stay in the buffers of their senders. Unknown connections may use half of the budget; the rest is for connections
// that have had a response before.
import type { Connection } from "./concurrency-limiter.ts";

/** The part of the budget that one request uses. */
export interface BodyShare {
  /** Counts bytes that have arrived. False: stop reading until {@link whenAvailable} resolves. */
  add(bytes: number): boolean;
  /** Rejects with the signal's reason when that fires first. */
  whenAvailable(signal: AbortSignal): Promise<void>;
  /** Returns all bytes; the share cannot be used afterwards. */
  release(): void;
}

interface Share {
  readonly connection: Connection;
  bytes: number;
  /** Present while the body waits for budget. */
  resume: (() => void) | undefined;
}

export class BodyBudget {
  readonly #limitBytes: number;
  readonly #shares = new Set<Share>();
  readonly #held: Record<Connection, number> = { known: 0, unknown: 0 };

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get bytes(): number {
    return this.#held.known + this.#held.unknown;
  }

  get waiting(): number {
    return this.#waiting().length;
  }

  open(connection: Connection): BodyShare {
    const share: Share = { connection, bytes: 0, resume: undefined };
    this.#shares.add(share);
    return {
      add: (bytes) => {
        share.bytes += bytes;
        this.#held[connection] += bytes;
        return this.#fits(share);
      },
      whenAvailable: (signal) => this.#wait(share, signal),
      release: () => {
        if (!this.#shares.delete(share)) return;
        this.#held[connection] -= share.bytes;
        this.#advance();
      },
    };
  }

  #wait(share: Share, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        share.resume = undefined;
        reject(signal.reason);
      };
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener("abort", onAbort, { once: true });
      share.resume = () => {
        signal.removeEventListener("abort", onAbort);
        share.resume = undefined;
        resolve();
      };
      // The last body that was still being read may have begun to wait just now.
      this.#advance();
    });
  }

  /** A single body may exceed the budget, and when all bodies wait one continues: no deadlock. */
  #fits(share: Share): boolean {
    const half = this.#limitBytes / 2;
    // Unknown connections may exceed their half by a first chunk each: the other half does not depend on it.
    if (share.connection === "known" && (this.#held.known <= half || this.bytes <= this.#limitBytes)) return true;
    if (share.connection === "unknown" && this.bytes <= half) return true;
    for (const other of this.#shares)
      if (other !== share && other.bytes > 0 && other.resume === undefined) return false;
    return true;
  }

  #advance(): void {
    for (const share of this.#waiting()) if (this.#fits(share)) share.resume?.();
  }

  /** Known connections first, then in the order of arrival. */
  #waiting(): Share[] {
    const waiting = [...this.#shares].filter(({ resume }) => resume !== undefined);
    return [
      ...waiting.filter(({ connection }) => connection === "known"),
      ...waiting.filter(({ connection }) => connection === "unknown"),
    ];
  }
}
