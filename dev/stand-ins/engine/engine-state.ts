// What one stand-in engine knows about itself: whether it is ready, whether it is shutting down, which queries it runs, and what
// a test has switched. It opens no socket.
import type { QueryKind } from "../../../src/api/engine-contract.ts";

export type MetricsMode = "ok" | "missing" | "labelled" | "error" | "hang";
export const METRICS_MODES: readonly MetricsMode[] = ["ok", "missing", "labelled", "error", "hang"];

/** One accepted query. */
export interface AcceptedQuery {
  /** Fires when the engine stops waiting for this query at shutdown. */
  readonly killed: AbortSignal;
  /** Resolves when a test finishes the query early. */
  readonly finished: Promise<void>;
  done(): void;
}

interface RunningQuery {
  readonly kind: QueryKind;
  readonly finish: () => void;
}

export class EngineState {
  /** Set once the start conditions are met. */
  started = false;
  /** A test's override; undefined: none. */
  readyOverride: boolean | undefined;
  /** New queries are refused, explicitly and before any work. */
  fenced = false;
  /** Queries run, and then their connection is closed without a response. */
  dropsAnswers = false;
  /** When a query was last refused because of shutdown, on the monotonic clock. */
  lastRefusalMs = 0;
  metricsMode: MetricsMode = "ok";
  readonly gaugeOverride: Partial<Record<QueryKind, number>> = {};
  readonly #queries = new Map<AbortController, RunningQuery>();
  readonly #idle: (() => void)[] = [];
  #hold: PromiseWithResolvers<void> | undefined;

  get ready(): boolean {
    return !this.fenced && (this.readyOverride ?? this.started);
  }

  accept(kind: QueryKind): AcceptedQuery {
    const killer = new AbortController();
    const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
    this.#queries.set(killer, { kind, finish });
    return {
      killed: killer.signal,
      finished,
      done: () => {
        this.#queries.delete(killer);
        if (this.#queries.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
      },
    };
  }

  count(kind: QueryKind): number {
    const override = this.gaugeOverride[kind];
    if (override !== undefined) return override;
    return [...this.#queries.values()].filter((query) => query.kind === kind).length;
  }

  get total(): number {
    return this.#queries.size;
  }

  /** Resolves once no accepted query is left. */
  untilIdle(): Promise<void> {
    return this.#queries.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  killQueries(): void {
    for (const killer of this.#queries.keys()) killer.abort(new Error("the engine is shutting down"));
  }

  /** Those that run now, held or not; later ones take their time. */
  finishQueries(): void {
    for (const { finish } of this.#queries.values()) finish();
  }

  /** While held, finished queries wait for the release before they respond. */
  setHeld(held: boolean): void {
    if (held) {
      this.#hold ??= Promise.withResolvers();
    } else {
      this.#hold?.resolve();
      this.#hold = undefined;
    }
  }

  /** Resolves at once unless responses are held. */
  untilReleased(): Promise<void> {
    return this.#hold?.promise ?? Promise.resolve();
  }
}
