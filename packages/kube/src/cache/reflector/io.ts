// Performs a reflector's I/O through the client and the clock. Makes no decisions.
import type { ListOptions } from "../../client/client.ts";
import { sleep, systemClock } from "../../core/clock.ts";
import type { KubeObject } from "../../core/object.ts";
import type { CacheOptions, CacheTimings } from "../cache.ts";
import type { StoreScope } from "../store-scope.ts";
import { MalformedObjectError, type Shaper } from "../stored-object.ts";
import { eventStream } from "../watch-events.ts";
import type { RefreshRequests } from "./refresh-requests.ts";
import type { ReflectorIo, ReflectorNote } from "./states.ts";

const PAGE_SIZE = 500;
const PAGE_TIMEOUT_MS = 60_000;
/** A small response on a connection that may be dead: better to continue than to wait long for it. */
const PROBE_TIMEOUT_MS = 10_000;
/** Longest silence inside a streaming list: the server has all of it in memory and sends without a pause. */
const INITIAL_IDLE_MS = 30_000;
/** A connection that lasted this long has worked, even if it delivered nothing. */
const PROVEN_MS = 10_000;

export const DEFAULT_TIMINGS: CacheTimings = {
  idleTimeoutMs: 150_000,
  openTimeoutMs: 10_000,
  // Short, because controllers are blind until the watches are back; a few requests in five seconds do not load an API
  // server.
  backoff: { baseMs: 200, maxMs: 5_000 },
  unavailableRetryMs: 30_000,
};

export interface ReflectorWiring<T extends KubeObject> {
  readonly options: CacheOptions<T>;
  readonly scope: StoreScope<T>;
  readonly shape: Shaper<T>;
  readonly signal: AbortSignal;
  readonly refreshes: RefreshRequests;
  readonly streamingOffered: () => boolean;
  readonly report: (note: ReflectorNote) => void;
}

export function createReflectorIo<T extends KubeObject>(wiring: ReflectorWiring<T>): ReflectorIo<T> {
  const { options, scope, shape, signal, refreshes } = wiring;
  const { client, type, clock = systemClock } = options;
  const timings = { ...DEFAULT_TIMINGS, ...options.timings };
  const selection = {
    ...(scope.namespace === undefined ? {} : { namespace: scope.namespace }),
    ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
    ...(options.fieldSelector === undefined ? {} : { fieldSelector: options.fieldSelector }),
  };

  async function interruptible<V>(wait: (ended: AbortSignal) => Promise<V>): Promise<V> {
    const ended = linkedController(signal, refreshes.interrupt);
    try {
      return await wait(ended.signal);
    } finally {
      ended.abort();
    }
  }

  async function list(paging: ListOptions) {
    const { metadata, items } = await interruptible((ended) =>
      client.list(type, { ...selection, ...paging, signal: ended }),
    );
    const { resourceVersion: version, continue: token } = metadata;
    if (version === undefined) throw new MalformedObjectError(`list of ${type.plural} has no resourceVersion`);
    return { items, version, token: token === "" ? undefined : token };
  }

  return {
    timings: { ...timings, provenMs: PROVEN_MS },
    writer: scope,
    refreshes,
    optional: scope.namespace !== undefined,
    streamingOffered: wiring.streamingOffered,
    open(version) {
      const connection = linkedController(signal, refreshes.interrupt);
      const events = client.watch(type, {
        ...selection,
        // Without a version, the initial events show the current state instead of whatever the server has cached.
        ...(version === undefined
          ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" as const }
          : { resourceVersion: version }),
        // Randomised, so that watches opened together do not expire together.
        timeoutSeconds: 300 + Math.floor(Math.random() * 300),
        idleTimeoutMs: timings.idleTimeoutMs,
        initialIdleTimeoutMs: Math.min(INITIAL_IDLE_MS, timings.idleTimeoutMs),
        openTimeoutMs: Math.min(timings.openTimeoutMs, timings.idleTimeoutMs),
        signal: connection.signal,
        isKnown: (version) => scope.isEcho(version),
      });
      return eventStream(events, shape, connection);
    },
    async page(next) {
      const { items, version, token } = await list({
        limit: PAGE_SIZE,
        timeoutMs: PAGE_TIMEOUT_MS,
        ...(next === undefined ? {} : { continue: next }),
      });
      return { entries: items.map(shape), version, token };
    },
    async currentVersion() {
      const timeoutMs = Math.min(PROBE_TIMEOUT_MS, timings.idleTimeoutMs);
      return (await list({ limit: 1, timeoutMs })).version;
    },
    wait: (delayMs) => interruptible((ended) => sleep(clock, delayMs, ended)),
    monotonicMs: () => clock.monotonicMs(),
    random: Math.random,
    stopped: () => signal.aborted,
    report: wiring.report,
  };
}

/** A controller that aborts with any of the signals, and removes its listeners from them once it has aborted. */
function linkedController(...signals: readonly AbortSignal[]): AbortController {
  const linked = new AbortController();
  for (const signal of signals) {
    const onAbort = (): void => linked.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true, signal: linked.signal });
  }
  return linked;
}
