// What the agent knows about the engines of its namespace, from two watches: which exist, and whether they are
// available. An agent that may not read engines uses their endpoints alone. Changes are published at once and numbered,
// so that a gateway knows whether an earlier response is still valid.
import { isIPv4 } from "node:net";
import type { DeepReadonly, KubeObject } from "@firebolt-operator/kube";
import type { CacheEvent, CacheObserver, ObjectCache } from "@firebolt-operator/kube/cache";
import { type Availability, availabilityOf } from "./availability.ts";
import type { EngineEndpoint } from "./discovery/engine-discovery.ts";
import { type EndpointSlice, engineOfSlice, type WatchedEngine } from "./kinds.ts";

export const SLICES_BY_ENGINE = "engine";

export interface AvailabilityChange {
  readonly engine: string;
  readonly from: Availability;
  readonly to: Availability;
}

/** Whether a watch has completed a list, and whether it works now. */
export class WatchHealth {
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

  /** A cache that may not be read reports itself as synced; for the agent it holds nothing. */
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

  /** Failed lists and watches so far. */
  get failures(): number {
    return this.#failures;
  }
}

export interface EngineViewOptions {
  readonly namespace: string;
  /** Undefined: engines may not be read. */
  readonly engines: ObjectCache<WatchedEngine> | undefined;
  readonly slices: ObjectCache<EndpointSlice>;
  readonly watchHealth: { readonly engines: WatchHealth; readonly slices: WatchHealth };
  /** The first epoch: those of later processes must be greater than all epochs of earlier ones. */
  readonly firstEpoch: number;
}

export class EngineView {
  readonly #options: EngineViewOptions;
  readonly #availabilities = new Map<string, Availability>();
  readonly #listeners = new Set<(change: AvailabilityChange) => void>();
  readonly #updateListeners = new Set<(engine: string) => void>();
  readonly #epochWaiters = new Set<() => void>();
  #epoch: number;

  constructor(options: EngineViewOptions) {
    this.#options = options;
    this.#epoch = options.firstEpoch;
  }

  /** Subscribes to the watches; the returned function unsubscribes. */
  open(): () => void {
    const { engines, slices } = this.#options;
    const stop = [
      ...(engines === undefined ? [] : [engines.onEvent(({ object }) => this.#update(object.metadata?.name))]),
      slices.onEvent((event) => {
        for (const name of namesOf(event)) this.#update(name);
      }),
    ];
    return () => {
      for (const end of stop) end();
    };
  }

  onChange(listener: (change: AvailabilityChange) => void): void {
    this.#listeners.add(listener);
  }

  /** Called when the engine or its endpoints may have changed, before anything about its availability is published. */
  onUpdate(listener: (engine: string) => void): void {
    this.#updateListeners.add(listener);
  }

  /** Increases whenever an engine that was ready may no longer be, or queries have to take another route to it. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Resolves when the epoch exceeds this one, or the signal fires. */
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

  /** Every watch has completed a list: an engine that is in none does not exist. */
  get complete(): boolean {
    const { engines, watchHealth } = this.#options;
    return (engines === undefined || watchHealth.engines.listed) && watchHealth.slices.listed;
  }

  /** Endpoints are synced, engines perhaps not. */
  get knowsEndpoints(): boolean {
    return this.#options.watchHealth.slices.listed;
  }

  /** A watch is broken: an engine may have become ready without the agent noticing. */
  get isWatchBroken(): boolean {
    const { engines, slices } = this.#options.watchHealth;
    return engines.lost || slices.lost;
  }

  /** The watch of endpoints is broken: addresses may have changed without the agent noticing. */
  get areEndpointsLost(): boolean {
    return this.#options.watchHealth.slices.lost;
  }

  /** Changes whenever the watch that shows engines receives anything. */
  get progress(): number {
    const { engines, watchHealth } = this.#options;
    return (engines === undefined ? watchHealth.slices : watchHealth.engines).received;
  }

  /**
   * The ready pods of an engine, those of one address family: a pod with two addresses is in the slices of both.
   */
  endpoints(engine: string): readonly EngineEndpoint[] {
    const all = this.#slicesOf(engine).flatMap(({ endpoints = [] }) =>
      endpoints.flatMap(({ addresses: [address] = [], targetRef }) =>
        address === undefined ? [] : [{ address, pod: targetRef?.name ?? "" }],
      ),
    );
    const ofVersion4 = all.filter(({ address }) => isIPv4(address));
    const chosen = ofVersion4.length > 0 ? ofVersion4 : all;
    // While the slices of a Service are rearranged a pod may be in two of them.
    return [...new Map(chosen.map((endpoint) => [endpoint.address, endpoint])).values()];
  }

  /** The engines that have endpoints, or are known otherwise. */
  get engineNames(): readonly string[] {
    return [...this.#availabilities.keys()];
  }

  availability(engine: string): Availability {
    return this.#availabilities.get(engine) ?? "unknown";
  }

  engine(name: string): DeepReadonly<WatchedEngine> | undefined {
    return this.#options.engines?.get({ namespace: this.#options.namespace, name });
  }

  #update(engine: string | undefined): void {
    if (engine === undefined) return;
    const from = this.availability(engine);
    const to = availabilityOf(this.#found(engine), this.#readyPods(engine));
    if (to === "unknown") this.#availabilities.delete(engine);
    else this.#availabilities.set(engine, to);
    for (const listener of this.#updateListeners) listener(engine);
    if (from === to) return;
    if (from === "ready") this.invalidate();
    for (const listener of this.#listeners) listener({ engine, from, to });
  }

  /** What was reported about engines before is no longer valid. */
  invalidate(): void {
    this.#epoch++;
    for (const end of [...this.#epochWaiters]) end();
  }

  /**
   * A stopped engine keeps its Service, and a Service without endpoints keeps one empty slice: a slice proves that the
   * engine exists.
   */
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
