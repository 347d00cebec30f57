// The keys that want a pass: one entry per key, never two workers on one key, the earliest requested time wins.
// One timer serves all delayed keys. It neither runs passes nor judges errors; workers do.
import type { Clock } from "../core/clock.ts";
import { InvariantError } from "../core/errors.ts";
import type { NextCheck } from "./controller.ts";
import { type DueEntry, DueHeap } from "./due-heap.ts";
import { spreadMs } from "./spread.ts";

/** Told what happens in the queue, for metrics. */
export interface QueueObserver {
  added(): void;
  /** Keys that are due and wait for a worker. */
  depth(keys: number): void;
  waited(ms: number): void;
  worked(ms: number): void;
  retried(): void;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly observer?: QueueObserver;
  /** First back-off of a key; doubles with every retry. Default 5 ms. */
  readonly baseDelayMs?: number;
  /** Longest back-off of a key. Default 1000 s. */
  readonly maxDelayMs?: number;
}

export interface RunningWork {
  readonly keys: number;
  /** Sum over the keys that workers hold now. */
  readonly unfinishedMs: number;
  readonly longestMs: number;
  /** How long the quietest worker has held its key since it took it or gave a heartbeat. */
  readonly longestSilentMs: number;
}

interface Entry extends DueEntry {
  readonly key: string;
  state: "delayed" | "ready" | "running";
  /** The next entry of the ready list. */
  next: Entry | undefined;
  startedMs: number;
  heartbeatMs: number;
  retries: number;
}

type Waiter = (entry: Entry | undefined) => void;

const NOT_ASKED = Number.POSITIVE_INFINITY;

/** The keys that want a pass: one entry per key, never two workers on one key, the earliest requested time wins. */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #observer: QueueObserver | undefined;
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #delayed = new DueHeap<Entry>();
  readonly #running = new Set<Entry>();
  readonly #waiters = new Set<Waiter>();
  #readyHead: Entry | undefined;
  #readyTail: Entry | undefined;
  #readyCount = 0;
  #order = 0;
  #timer: { readonly dueMs: number; readonly cancel: () => void } | undefined;
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#observer = options.observer;
    this.#baseDelayMs = options.baseDelayMs ?? 5;
    this.#maxDelayMs = options.maxDelayMs ?? 1_000_000;
  }

  /** Keys that are due and wait for a worker. */
  get depth(): number {
    return this.#readyCount;
  }

  /** All keys the queue knows: due, delayed and being worked on. */
  get size(): number {
    return this.#entries.size;
  }

  /** Asks for a pass on the key, after the delay at the latest. A key that is being worked on is handed out again afterwards. */
  add(key: string, delayMs = 0): void {
    if (this.#closed) return;
    const dueMs = this.#dueAfter(delayMs);
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const fresh = this.#newEntry(key);
      this.#entries.set(key, fresh);
      this.#schedule(fresh, dueMs);
    } else if (entry.state !== "ready" && dueMs < entry.dueMs) {
      if (this.#delayed.remove(entry)) this.#schedule(entry, dueMs);
      else entry.dueMs = dueMs;
    }
  }

  /** Keys as they fall due, first come first served, until the signal fires or the queue is closed. Each one ends in `done` or `retry`. */
  async *take(signal: AbortSignal): AsyncGenerator<string, void, void> {
    for (;;) {
      const entry = await this.#next(signal);
      if (entry === undefined) return;
      if (signal.aborted) {
        this.#finish(entry, entry.startedMs);
        return;
      }
      yield entry.key;
    }
  }

  /**
   * Ends the work on a key that `take` handed out, and says when to look again. An earlier request made meanwhile wins. Delays of a
   * minute and more are spread by up to a tenth.
   */
  done(key: string, next: NextCheck): void {
    const dueMs = typeof next === "object" ? this.#dueAfter(spreadMs(key, next.afterMs)) : NOT_ASKED;
    const entry = this.#takenBack(key);
    if (next === "requeue") {
      this.#finish(entry, this.#backOff(entry, 0));
    } else {
      entry.retries = 0;
      this.#finish(entry, dueMs);
    }
  }

  /** Ends failed work on a key: it is handed out again after its back-off, and not before `atLeastMs` unless someone asks for it. */
  retry(key: string, atLeastMs = 0): void {
    const entry = this.#takenBack(key);
    this.#finish(entry, this.#backOff(entry, atLeastMs));
  }

  /** The worker that holds this key is alive and knows that it takes long. */
  heartbeat(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.state === "running") entry.heartbeatMs = this.#clock.monotonicMs();
  }

  /** What workers hold at this moment. */
  running(): RunningWork {
    const nowMs = this.#clock.monotonicMs();
    let unfinishedMs = 0;
    let longestMs = 0;
    let longestSilentMs = 0;
    for (const entry of this.#running) {
      unfinishedMs += nowMs - entry.startedMs;
      longestMs = Math.max(longestMs, nowMs - entry.startedMs);
      longestSilentMs = Math.max(longestSilentMs, nowMs - entry.heartbeatMs);
    }
    return { keys: this.#running.size, unfinishedMs, longestMs, longestSilentMs };
  }

  /** Stops handing out and taking in. Keys that workers hold are still theirs to finish; everything else is dropped. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#delayed.clear();
    this.#readyHead = undefined;
    this.#readyTail = undefined;
    this.#readyCount = 0;
    for (const entry of this.#entries.values()) if (entry.state !== "running") this.#entries.delete(entry.key);
    this.#observer?.depth(0);
    for (const waiter of [...this.#waiters]) waiter(undefined);
  }

  #newEntry(key: string): Entry {
    const times = { dueMs: NOT_ASKED, startedMs: 0, heartbeatMs: 0 };
    return { key, state: "delayed", next: undefined, order: 0, slot: -1, retries: 0, ...times };
  }

  #dueAfter(delayMs: number): number {
    if (!Number.isFinite(delayMs)) throw new InvariantError(`${delayMs} is no delay for a key`);
    return this.#clock.monotonicMs() + Math.max(0, delayMs);
  }

  #backOff(entry: Entry, atLeastMs: number): number {
    const delayMs = Math.min(this.#baseDelayMs * 2 ** entry.retries, this.#maxDelayMs);
    entry.retries += 1;
    this.#observer?.retried();
    return this.#clock.monotonicMs() + Math.max(delayMs, atLeastMs);
  }

  #next(signal: AbortSignal): Promise<Entry | undefined> {
    if (this.#closed || signal.aborted) return Promise.resolve(undefined);
    const ready = this.#shiftReady();
    if (ready !== undefined) return Promise.resolve(this.#begin(ready));
    return new Promise((resolve) => {
      const waiter: Waiter = (entry) => {
        this.#waiters.delete(waiter);
        signal.removeEventListener("abort", onAbort);
        resolve(entry);
      };
      const onAbort = (): void => waiter(undefined);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  #schedule(entry: Entry, dueMs: number): void {
    entry.dueMs = dueMs;
    entry.order = this.#order++;
    if (dueMs <= this.#clock.monotonicMs()) {
      this.#makeReady(entry);
      return;
    }
    entry.state = "delayed";
    this.#delayed.push(entry);
    this.#arm();
  }

  /** Keeps the one timer at the first due time. A timer that is too early only looks again; it is never worth cancelling. */
  #arm(): void {
    const first = this.#delayed.first();
    if (first === undefined || (this.#timer !== undefined && this.#timer.dueMs <= first.dueMs)) return;
    this.#timer?.cancel();
    const { dueMs } = first;
    const cancel = this.#clock.after(dueMs - this.#clock.monotonicMs(), () => {
      this.#timer = undefined;
      this.#promote();
    });
    this.#timer = { dueMs, cancel };
  }

  #promote(): void {
    const nowMs = this.#clock.monotonicMs();
    for (
      let first = this.#delayed.first();
      first !== undefined && first.dueMs <= nowMs;
      first = this.#delayed.first()
    ) {
      this.#delayed.remove(first);
      this.#makeReady(first);
    }
    this.#arm();
  }

  #makeReady(entry: Entry): void {
    this.#observer?.added();
    entry.state = "ready";
    const [waiter] = this.#waiters;
    if (waiter !== undefined) {
      waiter(this.#begin(entry));
      return;
    }
    if (this.#readyTail === undefined) this.#readyHead = entry;
    else this.#readyTail.next = entry;
    this.#readyTail = entry;
    this.#readyCount += 1;
    this.#observer?.depth(this.#readyCount);
  }

  #shiftReady(): Entry | undefined {
    const entry = this.#readyHead;
    if (entry === undefined) return undefined;
    this.#readyHead = entry.next;
    if (entry.next === undefined) this.#readyTail = undefined;
    entry.next = undefined;
    this.#readyCount -= 1;
    this.#observer?.depth(this.#readyCount);
    return entry;
  }

  #begin(entry: Entry): Entry {
    const nowMs = this.#clock.monotonicMs();
    this.#observer?.waited(nowMs - entry.dueMs);
    entry.state = "running";
    entry.startedMs = nowMs;
    entry.heartbeatMs = nowMs;
    // From here on the due time is that of the *next* pass, which nobody has asked for yet.
    entry.dueMs = NOT_ASKED;
    this.#running.add(entry);
    return entry;
  }

  #takenBack(key: string): Entry {
    const entry = this.#entries.get(key);
    if (entry?.state !== "running") throw new InvariantError(`key ${key} was ended without having been handed out`);
    this.#observer?.worked(this.#clock.monotonicMs() - entry.startedMs);
    return entry;
  }

  #finish(entry: Entry, dueMs: number): void {
    this.#running.delete(entry);
    const earliestMs = Math.min(entry.dueMs, dueMs);
    if (this.#closed || earliestMs === NOT_ASKED) this.#entries.delete(entry.key);
    else this.#schedule(entry, earliestMs);
  }
}
