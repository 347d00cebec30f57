// Confirms with the API server that an engine does not exist before a query for it is refused. A watch may have stalled without the
// agent knowing (a changed NetworkPolicy, a node cut off): a name that it has not reported may be an engine that serves.
import type { Clock, Logger } from "@firebolt-operator/kube";

export interface AbsenceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the API server has the engine, now. Rejects when that cannot be learned; has a deadline of its own. */
  readonly exists: (engine: string, signal: AbortSignal) => Promise<boolean>;
  /** Changes whenever the watch that shows engines receives anything. */
  readonly progress: () => number;
  readonly signal: AbortSignal;
}

/** "unclear": the API server did not respond, or refused. */
type Finding = "absent" | "exists" | "unclear";

/** How long a result counts, for the same name; and how long the API server is spared after a request that failed. */
const REMEMBER_MS = 2_000;
/** Names are chosen by clients. However many they make up, the API server gets no more than this many requests per REMEMBER_MS. */
const MOST_REMEMBERED = 10;
const COMPLAIN_EVERY_MS = 60_000;

export class Absence {
  readonly #options: AbsenceOptions;
  readonly #remembered = new Map<string, { readonly untilMs: number; readonly finding: Promise<Finding> }>();
  /** The progress of a watch that did not show an engine which the API server has. Stale for as long as it makes no other. */
  #staleAt: number | undefined;
  #failedUntilMs = Number.NEGATIVE_INFINITY;
  #complainedMs = Number.NEGATIVE_INFINITY;

  constructor(options: AbsenceOptions) {
    this.#options = options;
  }

  /** For an engine that no watch shows. False: it exists, or that cannot be known at present. */
  async isConfirmed(engine: string): Promise<boolean> {
    const now = this.#options.clock.monotonicMs();
    if (now < this.#failedUntilMs) return false;
    // Oldest first: all results count for the same time.
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
   * For a name that the API server is not asked about. The watch proves nothing by itself: it is believed when the API server has
   * agreed with it on every one of the other names. Reads that are under way are waited for; a read that failed, or that found an
   * engine, is no agreement.
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
      // Progress made during the read counts: it may have been this engine.
      if (progress() === before) this.#staleAt = before;
      return "exists";
    } catch (error) {
      this.#failedUntilMs = clock.monotonicMs() + REMEMBER_MS;
      if (!signal.aborted) this.#complain(engine, error);
      return "unclear";
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
