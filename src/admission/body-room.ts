// How many bytes of bodies the webhook server holds. Only bytes that have arrived count: a sender that announces a body and is
// silent takes no room. When there is none left, bodies that are not whole yet stop being read and stay in their
// senders' buffers. Strangers may fill half of the room; the rest is kept for connections that have had a response before.
import type { Standing } from "./gate.ts";

/** What one request holds. */
export interface BodyShare {
  /** Counts bytes that have arrived. False: read no more of it until {@link whenRoom} resolves. */
  add(bytes: number): boolean;
  /** Rejects with the signal's reason when that fires first. */
  whenRoom(signal: AbortSignal): Promise<void>;
  /** Gives everything back; the share is over. */
  release(): void;
}

interface Share {
  readonly standing: Standing;
  bytes: number;
  /** Present while the body waits for room. */
  resume: (() => void) | undefined;
}

export class BodyRoom {
  readonly #limitBytes: number;
  readonly #shares = new Set<Share>();
  readonly #held: Record<Standing, number> = { known: 0, stranger: 0 };

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get bytes(): number {
    return this.#held.known + this.#held.stranger;
  }

  get waiting(): number {
    return this.#waiting().length;
  }

  open(standing: Standing): BodyShare {
    const share: Share = { standing, bytes: 0, resume: undefined };
    this.#shares.add(share);
    return {
      add: (bytes) => {
        share.bytes += bytes;
        this.#held[standing] += bytes;
        return this.#fits(share);
      },
      whenRoom: (signal) => this.#wait(share, signal),
      release: () => {
        if (!this.#shares.delete(share)) return;
        this.#held[standing] -= share.bytes;
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
      // The last one that was still being read may just have begun to wait.
      this.#advance();
    });
  }

  /** A body that is alone may be larger than the room, and of those that all wait one goes on, so that there is no deadlock. */
  #fits(share: Share): boolean {
    const half = this.#limitBytes / 2;
    // Strangers may come to a little more than their half, a first piece each: the other half does not depend on it.
    if (share.standing === "known" && (this.#held.known <= half || this.bytes <= this.#limitBytes)) return true;
    if (share.standing === "stranger" && this.bytes <= half) return true;
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
      ...waiting.filter(({ standing }) => standing === "known"),
      ...waiting.filter(({ standing }) => standing === "stranger"),
    ];
  }
}
