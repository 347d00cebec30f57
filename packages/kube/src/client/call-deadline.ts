// The limit of one call: its deadline or its AbortSignal, whichever comes first, for every step of the call. One timer
// and one listener per call instead of a chain of signals per step. Must be closed when the call is over.
import type { Clock } from "../core/clock.ts";
import { KubeTimeoutError } from "../core/errors.ts";

export interface CallDeadlineOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** The request, for the message: `GET /api/v1/pods`. */
  readonly request: string;
}

type Ending = { readonly reason: unknown };

export class CallDeadline {
  readonly #options: CallDeadlineOptions;
  readonly #expiresMs: number;
  readonly #cancelTimer: () => void;
  readonly #abort: () => void;
  #ending: Ending | undefined;
  /** The steps of a call are sequential, so one listener at a time is enough. */
  #interrupt: ((reason: unknown) => void) | undefined;

  constructor(options: CallDeadlineOptions) {
    this.#options = options;
    const { clock, signal, timeoutMs } = options;
    this.#expiresMs = clock.monotonicMs() + timeoutMs;
    this.#abort = () => this.#end(signal?.reason);
    if (signal?.aborted) this.#ending = { reason: signal.reason };
    signal?.addEventListener("abort", this.#abort, { once: true });
    this.#cancelTimer = clock.after(timeoutMs, () => this.#end(this.#timeout()));
  }

  get remainingMs(): number {
    return this.#expiresMs - this.#options.clock.monotonicMs();
  }

  /** A limit for one step, never later than the end of the whole call. Must be closed too. */
  step(timeoutMs: number): CallDeadline {
    return new CallDeadline({ ...this.#options, timeoutMs: Math.max(0, Math.min(timeoutMs, this.remainingMs)) });
  }

  /** Throws if the call is already over. */
  check(): void {
    if (this.#ending !== undefined) throw this.#ending.reason;
  }

  /** Calls back if the call ends before this step is done; returns a function that marks the step as done. */
  onInterrupt(interrupt: (reason: unknown) => void): () => void {
    if (this.#ending !== undefined) {
      interrupt(this.#ending.reason);
      return () => undefined;
    }
    this.#interrupt = interrupt;
    return () => {
      if (this.#interrupt === interrupt) this.#interrupt = undefined;
    };
  }

  /** The outcome of the promise, or the end of the call if that comes first. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = this.onInterrupt(reject);
      promise.then(resolve, reject).finally(done);
    });
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.check();
      const cancel = this.#options.clock.after(delayMs, () => {
        done();
        resolve();
      });
      const done = this.onInterrupt((reason) => {
        cancel();
        reject(reason);
      });
    });
  }

  /** Ends the call if the step that begins here takes longer than this; returns a function that cancels. */
  limit(limitMs: number, what: string): () => void {
    const { clock, request } = this.#options;
    return clock.after(limitMs, () => this.#end(new KubeTimeoutError(`${request}: no ${what} within ${limitMs} ms`)));
  }

  close(): void {
    this.#cancelTimer();
    this.#options.signal?.removeEventListener("abort", this.#abort);
    this.#interrupt = undefined;
  }

  #timeout(): KubeTimeoutError {
    return new KubeTimeoutError(`${this.#options.request}: no complete response within ${this.#options.timeoutMs} ms`);
  }

  #end(reason: unknown): void {
    if (this.#ending !== undefined) return;
    this.#ending = { reason };
    const interrupt = this.#interrupt;
    this.#interrupt = undefined;
    interrupt?.(reason);
  }
}
