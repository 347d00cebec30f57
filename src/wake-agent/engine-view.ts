// What the agent knows of the engines of its namespace, from two watches: who they are and where they stand. An agent that may not
// read engines goes by their endpoints alone. Changes are told at once, and numbered, so that a gateway can tell whether what it was
// told before is still true.
import type { DeepReadonly, KubeObject } from "@firebolt-operator/kube";
import type { CacheEvent, CacheObserver, ObjectCache } from "@firebolt-operator/kube/cache";
import { type EndpointSlice, engineOfSlice, type WatchedEngine } from "./kinds.ts";
import { type Standing, standingOf } from "./standing.ts";

export const SLICES_BY_ENGINE = "engine";

export interface StandingChange {
  readonly engine: string;
  readonly from: Standing;
  readonly to: Standing;
}

/** Whether a watch has ever listed, and whether it is being told anything now. */
export class Sight {
  #listed = false;
  #lost = false;
  #received = 0;
  #failures = 0;

  readonly observer: CacheObserver = {
    relisted: () => {
      this.#listed = true;
      this.#lost = false;
      this.#received++;
    },
    event: () => {
      this.#lost = false;
      this.#received++;
    },
    failed: () => {
      this.#lost = true;
      this.#failures++;
    },
  };

  /** A cache that may not be read counts itself as complete; for the agent it knows nothing. */
  get listed(): boolean {
    return this.#listed;
  }

  get lost(): boolean {
    return this.#lost;
  }

  /** Lists, events and bookmarks so far. */
  get received(): number {
    return this.#received;
  }

  /** Lists and watches that failed, so far. */
  get failures(): number {
    return this.#failures;
  }
}

export interface EngineViewOptions {
  readonly namespace: string;
  /** Undefined: engines may not be read. */
  readonly engines: ObjectCache<WatchedEngine> | undefined;
  readonly slices: ObjectCache<EndpointSlice>;
  readonly sights: { readonly engines: Sight; readonly slices: Sight };
  /** The first number: later processes must begin above all numbers of earlier ones. */
  readonly firstEpoch: number;
}

export class EngineView {
  readonly #options: EngineViewOptions;
  readonly #standings = new Map<string, Standing>();
  readonly #listeners = new Set<(change: StandingChange) => void>();
  readonly #epochWaiters = new Set<() => void>();
  #epoch: number;

  constructor(options: EngineViewOptions) {
    this.#options = options;
    this.#epoch = options.firstEpoch;
  }

  /** Follows the watches until the returned function is called. */
  open(): () => void {
    const { engines, slices } = this.#options;
    const stop = [
      ...(engines === undefined ? [] : [engines.onEvent(({ object }) => this.#look(object.metadata?.name))]),
      slices.onEvent((event) => {
        for (const name of namesOf(event)) this.#look(name);
      }),
    ];
    return () => {
      for (const end of stop) end();
    };
  }

  onChange(listener: (change: StandingChange) => void): void {
    this.#listeners.add(listener);
  }

  /** Grows whenever an engine that was ready is no longer sure to be. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Resolves when the epoch has grown past this one, or the signal fires. */
  epochAbove(epoch: number, signal: AbortSignal): Promise<void> {
    if (this.#epoch > epoch || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        this.#epochWaiters.delete(end);
        signal.removeEventListener("abort", end);
        resolve();
      };
      this.#epochWaiters.add(end);
      signal.addEventListener("abort", end, { once: true });
    });
  }

  /** Every watch has been listed: an engine that is not there does not exist. */
  get complete(): boolean {
    const { engines, sights } = this.#options;
    return (engines === undefined || sights.engines.listed) && sights.slices.listed;
  }

  /** Endpoints are known, engines perhaps not. */
  get knowsEndpoints(): boolean {
    return this.#options.sights.slices.listed;
  }

  /** A watch is broken: an engine may have become ready without the agent being told. */
  get blind(): boolean {
    const { engines, slices } = this.#options.sights;
    return engines.lost || slices.lost;
  }

  /** Changes whenever the watch by which engines are known receives anything. */
  get progress(): number {
    const { engines, sights } = this.#options;
    return (engines === undefined ? sights.slices : sights.engines).received;
  }

  standing(engine: string): Standing {
    return this.#standings.get(engine) ?? "unknown";
  }

  engine(name: string): DeepReadonly<WatchedEngine> | undefined {
    return this.#options.engines?.get({ namespace: this.#options.namespace, name });
  }

  #look(engine: string | undefined): void {
    if (engine === undefined) return;
    const from = this.standing(engine);
    const to = standingOf(this.#found(engine), this.#readyPods(engine));
    if (from === to) return;
    if (to === "unknown") this.#standings.delete(engine);
    else this.#standings.set(engine, to);
    if (from === "ready") this.#grow();
    for (const listener of this.#listeners) listener({ engine, from, to });
  }

  #grow(): void {
    this.#epoch++;
    for (const end of [...this.#epochWaiters]) end();
  }

  /** A stopped engine keeps its Service, and a Service without endpoints keeps one empty slice: who has a slice exists. */
  #found(engine: string): DeepReadonly<WatchedEngine> | undefined {
    if (this.#options.engines !== undefined) return this.engine(engine);
    return this.#slicesOf(engine).length === 0 ? undefined : {};
  }

  #slicesOf(engine: string): readonly DeepReadonly<EndpointSlice>[] {
    return this.#options.slices.byIndex(SLICES_BY_ENGINE, engine);
  }

  #readyPods(engine: string): readonly string[] {
    return this.#slicesOf(engine).flatMap(({ endpoints = [] }) =>
      endpoints.map(({ targetRef }) => targetRef?.name ?? ""),
    );
  }
}

/** For the cache of slices. */
export const indexSlices = {
  [SLICES_BY_ENGINE]: (slice: DeepReadonly<EndpointSlice>): readonly string[] => {
    const engine = engineOfSlice(slice);
    return engine === undefined ? [] : [engine];
  },
};

function namesOf({ object, previous }: CacheEvent<EndpointSlice>): ReadonlySet<string> {
  const names = [object, previous].flatMap((slice: DeepReadonly<KubeObject> | undefined) =>
    slice === undefined ? [] : (engineOfSlice(slice) ?? []),
  );
  return new Set(names);
}
