// Which events are repeats of one another, and the event rate limit of each object. In memory, bounded, evicts the
// least recently used. Sends nothing.
import type { Clock } from "../core/clock.ts";
import type { EventNote, ObjectReference } from "./object.ts";

/** Equal events in close succession: one Event object with a count. */
export interface Series {
  readonly event: EventNote;
  readonly firstMs: number;
  lastMs: number;
  count: number;
  /** Name of the Event object once it has been created. */
  name: string | undefined;
  /** Waiting to be written. */
  queued: boolean;
}

export interface EventLimits {
  /** Equal events closer together than this are repeats. */
  readonly seriesWindowMs: number;
  /** Events of one object that may be written in a burst. */
  readonly burst: number;
  readonly refillMs: number;
  /** The most series, and objects, that are remembered. */
  readonly remembered: number;
}

export const DEFAULT_EVENT_LIMITS: EventLimits = {
  seriesWindowMs: 6 * 60_000,
  burst: 25,
  refillMs: 5 * 60_000,
  remembered: 4096,
};

/** The share of an object's budget that repeats cannot use, so that they do not crowd out new events. */
const RESERVED_SHARE = 0.4;

export class EventSeries {
  readonly #clock: Clock;
  readonly #limits: EventLimits;
  readonly #series = new Map<string, Series>();
  readonly #budgets = new Map<string, { tokens: number; filledMs: number }>();

  constructor(clock: Clock, limits: EventLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Counts the event; returns its series if it has to be queued for writing. */
  count(event: EventNote): Series | "limited" | "waiting" {
    const nowMs = this.#clock.now();
    const key = seriesKey(event);
    const known = this.#series.get(key);
    const repeat = known !== undefined && nowMs - known.lastMs <= this.#limits.seriesWindowMs;
    if (repeat) {
      known.count += 1;
      known.lastMs = nowMs;
      touch(this.#series, key, known, this.#limits.remembered);
      // A queued series carries the new count when it is written, at no further cost.
      if (known.queued) return "waiting";
    }
    // The count continues in memory, and the next permitted write carries it.
    if (!this.#spend(event.regarding, repeat ? this.#limits.burst * RESERVED_SHARE : 0)) return "limited";
    if (repeat) return known;
    const fresh = { event, firstMs: nowMs, lastMs: nowMs, count: 1, name: undefined, queued: false };
    touch(this.#series, key, fresh, this.#limits.remembered);
    return fresh;
  }

  /** The series could not be written: the next such event starts a new one. */
  forget(series: Series): void {
    const key = seriesKey(series.event);
    if (this.#series.get(key) === series) this.#series.delete(key);
  }

  #spend(regarding: ObjectReference, reserve: number): boolean {
    const { burst, refillMs, remembered } = this.#limits;
    const key = objectKey(regarding);
    const nowMs = this.#clock.monotonicMs();
    const budget = this.#budgets.get(key) ?? { tokens: burst, filledMs: nowMs };
    budget.tokens = Math.min(burst, budget.tokens + (nowMs - budget.filledMs) / refillMs);
    budget.filledMs = nowMs;
    touch(this.#budgets, key, budget, remembered);
    if (budget.tokens < 1 + reserve) return false;
    budget.tokens -= 1;
    return true;
  }
}

/** Identifies the object of an event. */
export function objectKey({ uid, kind, namespace = "", name }: ObjectReference): string {
  return uid ?? `${kind}/${namespace}/${name}`;
}

function seriesKey({ regarding, type, reason, action, note }: EventNote): string {
  return JSON.stringify([objectKey(regarding), type, reason, action, note]);
}

/** Makes the entry the most recently used and evicts the least recently used past the limit. */
function touch<V>(map: Map<string, V>, key: string, value: V, limit: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}
