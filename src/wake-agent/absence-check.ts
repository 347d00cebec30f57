// Confirms with the API server that an engine does not exist before a query for it gets a 404. A watch may have stalled
// without the agent noticing (a changed NetworkPolicy, a partitioned node): a name that it has not reported may be an
// engine that serves.
import type { Clock, Logger } from "@firebolt-operator/kube";

export interface AbsenceCheckOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the API server has the engine now. Rejects when that is unknown; has a deadline of its own. */
  readonly exists: (engine: string, signal: AbortSignal) => Promise<boolean>;
  /** Changes whenever the watch of engines receives anything. */
  readonly progress: () => number;
  readonly signal: AbortSignal;
}

/** "unclear": the API server did not respond, or rejected the request. */
type Finding = "absent" | "exists" | "unclear";

/** How long a result is valid for its name, and how long no request is sent after one that failed. */
const REMEMBER_MS = 2_000;
/**
 * Clients choose the names. However many they invent, the API server gets at most this many requests per REMEMBER_MS.
 */
const MOST_REMEMBERED = 10;
const LOG_EVERY_MS = 60_000;

export class AbsenceCheck {
  readonly #options: AbsenceCheckOptions;
  readonly #remembered = new Map<string, { readonly untilMs: number; readonly finding: Promise<Finding> }>();
  /**
   * The progress of a watch that lacked an engine which the API server has. The watch is stale until it makes progress
   * again.
   */
  #staleAt: number | undefined;
  #failedUntilMs = Number.NEGATIVE_INFINITY;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(options: AbsenceCheckOptions) {
    this.#options = options;
  }

  /** For an engine that is in no watch. False: it exists, or that is unknown at present. */
  async isConfirmed(engine: string): Promise<boolean> {
    const now = this.#options.clock.monotonicMs();
    if (now < this.#failedUntilMs) return false;
    // Oldest first: all results are valid for the same time.
    for (const [name, { untilMs }] of this.#remembered) {
      if (untilMs > now) break;
      this.#remembered.delete(name);
    }
    const known = this.#remembered.get(engine)?.finding;
    if (known !== undefined) return (await known) === "absent";
    if (this.#remembered.size >= MOST_REMEMBERED) return this.#isWatchBelieved();
    const finding = this.#read(engine);
    this.#remembered.set(engine, { untilMs: now + REMEMBER_MS, finding });
    return (await finding) === "absent";
  }

  /**
   * For a name that is not looked up. The watch alone proves nothing: it is trusted when the API server confirmed it
   * for every name that was looked up. Lookups in flight are awaited; one that failed, or that found an engine,
   * confirms nothing.
   */
  async #isWatchBelieved(): Promise<boolean> {
    const findings = await Promise.all([...this.#remembered.values()].map(({ finding }) => finding));
    return findings.every((finding) => finding === "absent") && this.#staleAt !== this.#options.progress();
  }

  async #read(engine: string): Promise<Finding> {
    const { clock, exists, progress, signal } = this.#options;
    const before = progress();
    try {
      if (!(await exists(engine, signal))) return "absent";
      // Progress during the lookup counts: it may have been this engine.
      if (progress() === before) this.#staleAt = before;
      return "exists";
    } catch (error) {
      this.#failedUntilMs = clock.monotonicMs() + REMEMBER_MS;
      if (!signal.aborted) this.#logFailure(engine, error);
      return "unclear";
    }
  }

  #logFailure(engine: string, error: unknown): void {
    const now = this.#options.clock.monotonicMs();
    if (now - this.#loggedMs < LOG_EVERY_MS) return;
    this.#loggedMs = now;
    this.#options.logger.error("the API server did not confirm that the engine is absent; the query passes", error, {
      engine,
    });
  }
}
