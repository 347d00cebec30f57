// Confirms with the API server that an engine does not exist before a query for it is refused. A watch may have stalled without the
// agent knowing (a changed NetworkPolicy, a node cut off): a name that it has not reported may be an engine that serves.
import type { Clock } from "../kube/clock.ts";
import type { Logger } from "../kube/logger.ts";

export interface AbsenceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the API server has the engine, now. Rejects when that cannot be learned; has a deadline of its own. */
  readonly exists: (engine: string, signal: AbortSignal) => Promise<boolean>;
  readonly signal: AbortSignal;
}

/** How long a result counts, for the same name; and how long the API server is spared after a request that failed. */
const REMEMBER_MS = 2_000;
/** Names are chosen by clients. However many they make up, the API server gets no more than this many requests per REMEMBER_MS. */
const MOST_REMEMBERED = 10;
const COMPLAIN_EVERY_MS = 60_000;

export class Absence {
  readonly #options: AbsenceOptions;
  readonly #remembered = new Map<string, { readonly untilMs: number; readonly result: Promise<boolean> }>();
  #failedUntilMs = Number.NEGATIVE_INFINITY;
  #complainedMs = Number.NEGATIVE_INFINITY;

  constructor(options: AbsenceOptions) {
    this.#options = options;
  }

  /** For an engine that no watch shows. False: it exists, or nobody can know at present. */
  isConfirmed(engine: string): Promise<boolean> {
    const now = this.#options.clock.monotonicMs();
    if (now < this.#failedUntilMs) return Promise.resolve(false);
    // Oldest first: all results count for the same time.
    for (const [name, { untilMs }] of this.#remembered) {
      if (untilMs > now) break;
      this.#remembered.delete(name);
    }
    const known = this.#remembered.get(engine);
    if (known !== undefined) return known.result;
    // The API server has just confirmed other names, so the watches are believed for this one.
    if (this.#remembered.size >= MOST_REMEMBERED) return Promise.resolve(true);
    const result = this.#request(engine);
    this.#remembered.set(engine, { untilMs: now + REMEMBER_MS, result });
    return result;
  }

  async #request(engine: string): Promise<boolean> {
    const { clock, exists, signal } = this.#options;
    try {
      return !(await exists(engine, signal));
    } catch (error) {
      this.#failedUntilMs = clock.monotonicMs() + REMEMBER_MS;
      if (!signal.aborted) this.#complain(engine, error);
      return false;
    }
  }

  #complain(engine: string, error: unknown): void {
    const now = this.#options.clock.monotonicMs();
    if (now - this.#complainedMs < COMPLAIN_EVERY_MS) return;
    this.#complainedMs = now;
    this.#options.logger.error("the API server does not confirm that an engine is absent; its query passes", error, {
      engine,
    });
  }
}
