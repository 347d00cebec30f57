// Writes events to the API server, best effort: recording never waits and never throws, the queue is bounded, and an
// event that cannot be written is logged and dropped. Do not use it for anything the program depends on.
import { randomBytes } from "node:crypto";
import type { Runnable } from "../controller/runnable.ts";
import type { Clock } from "../core/clock.ts";
import { isNotFound, KubeApiError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import { pause } from "../core/until-aborted.ts";
import { type EventSink, eventNamespace, renderEvent, renderSeries, withinLimits } from "./object.ts";
import { DEFAULT_EVENT_LIMITS, type EventLimits, EventSeries, objectKey, type Series } from "./series.ts";
import type { EventWriter } from "./writer.ts";

/** Options of an event recorder. */
export interface EventRecorderOptions {
  readonly writer: EventWriter;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A qualified name, `example.com/controller`. */
  readonly reportingController: string;
  /** Usually the pod's name. */
  readonly reportingInstance: string;
  readonly limits?: Partial<EventLimits>;
  /** Filters a note, which may contain strings from other parties. Default: unchanged. */
  readonly plain?: (note: string) => string;
  /** Events that wait to be written; further ones are dropped. Default 1000. */
  readonly queueLimit?: number;
}

/** Records without waiting and writes in the background. */
export interface EventRecorder extends EventSink, Runnable {
  /** Resolves when everything recorded so far is written or dropped, or on timeout. */
  flush(timeoutMs: number): Promise<void>;
}

/** A single writer falls behind when a whole fleet rolls at once: under load a response takes a tenth of a second. */
const WRITERS = 4;
const CALL_TIMEOUT_MS = 5_000;
const FLUSH_TIMEOUT_MS = 1_000;
const RETRY_DELAYS_MS = [500, 1_000, 2_000, 4_000];

/** Creates a recorder. It writes while a manager runs it. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new Recorder(options);
}

class Recorder implements EventRecorder {
  readonly name = "events";
  readonly group = "leader-services";
  readonly #options: EventRecorderOptions;
  readonly #series: EventSeries;
  readonly #queue: Series[] = [];
  /** Objects with an event in flight. */
  readonly #busy = new Set<string>();
  readonly #idle = new Set<() => void>();
  #changed = Promise.withResolvers<void>();
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#series = new EventSeries(options.clock, { ...DEFAULT_EVENT_LIMITS, ...options.limits });
  }

  record(event: Parameters<EventSink["record"]>[0]): void {
    const { logger, queueLimit = 1_000, plain = (note) => note } = this.#options;
    const { reason, action, regarding, note } = event;
    if (reason === "" || action === "" || regarding.name === "") {
      logger.error("event has no reason, action or object", new TypeError("incomplete event"), { reason, action });
      return;
    }
    const series = this.#series.count(withinLimits({ ...event, note: plain(note) }));
    if (series === "waiting") return;
    if (series === "limited") {
      logger.debug("event rate limit of the object exceeded, event not written", { reason, name: regarding.name });
      return;
    }
    if (this.#queue.length >= queueLimit) {
      // Logged once the queue has room again: a line per dropped event would only add load.
      this.#dropped += 1;
      return;
    }
    series.queued = true;
    this.#queue.push(series);
    this.#announce();
  }

  async run(signal: AbortSignal): Promise<void> {
    // A stop writes what is queued, within the time that a shutdown can spare.
    const cut = new AbortController();
    let cancel = (): void => undefined;
    const onStop = (): void => {
      this.#announce();
      cancel = this.#options.clock.after(FLUSH_TIMEOUT_MS, () => cut.abort());
    };
    if (signal.aborted) onStop();
    else signal.addEventListener("abort", onStop, { once: true });
    await Promise.all(Array.from({ length: WRITERS }, () => this.#writeUntil(signal, cut.signal)));
    cancel();
    signal.removeEventListener("abort", onStop);
  }

  async flush(timeoutMs: number): Promise<void> {
    if (this.#isIdle()) return;
    const emptied = Promise.withResolvers<void>();
    this.#idle.add(emptied.resolve);
    const cancel = this.#options.clock.after(timeoutMs, emptied.resolve);
    await emptied.promise;
    this.#idle.delete(emptied.resolve);
    cancel();
  }

  async #writeUntil(stop: AbortSignal, cut: AbortSignal): Promise<void> {
    while (!cut.aborted) {
      const series = this.#takeNext();
      if (series !== undefined) await this.#write(series, stop, cut);
      else if (stop.aborted && this.#queue.length === 0) break;
      else await this.#changed.promise;
    }
  }

  /** Only one event per object is in flight, so that events arrive in order and a repeat finds its Event. */
  #takeNext(): Series | undefined {
    const index = this.#queue.findIndex(({ event }) => !this.#busy.has(objectKey(event.regarding)));
    const series = index < 0 ? undefined : this.#queue.splice(index, 1)[0];
    if (series === undefined) this.#reportDropped();
    else this.#busy.add(objectKey(series.event.regarding));
    return series;
  }

  #announce(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }

  #isIdle(): boolean {
    return this.#queue.length === 0 && this.#busy.size === 0;
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    this.#options.logger.info("event queue was full, events dropped", { count: this.#dropped });
    this.#dropped = 0;
  }

  /** Retries until written or rejected. After the stop there is one last attempt; after the cut there is none. */
  async #write(series: Series, stop: AbortSignal, cut: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    try {
      for (const delayMs of [...RETRY_DELAYS_MS, undefined]) {
        const lastTry = delayMs === undefined || stop.aborted;
        const error = await this.#try(series, cut);
        if (error === undefined) return;
        if (lastTry || !isRetryable(error)) return this.#giveUp(series, error);
        logger.debug("event not written, retrying", { cause: String(error) });
        await pause(clock, delayMs, stop);
      }
    } finally {
      this.#busy.delete(objectKey(series.event.regarding));
      this.#announce();
      if (this.#isIdle()) for (const resolve of [...this.#idle]) resolve();
    }
  }

  /** Returns the error instead of throwing: a failed event is an expected outcome. */
  async #try(series: Series, signal: AbortSignal): Promise<unknown> {
    // From here on, further repeats need another write.
    series.queued = false;
    try {
      await this.#send(series, signal);
      return undefined;
    } catch (error) {
      return error ?? new Error("unknown failure");
    }
  }

  async #send(series: Series, signal: AbortSignal): Promise<void> {
    const { writer, reportingController, reportingInstance } = this.#options;
    const call = { signal, timeoutMs: CALL_TIMEOUT_MS };
    if (series.name !== undefined) {
      const key = { namespace: eventNamespace(series.event.regarding), name: series.name };
      try {
        await writer.setSeries(key, renderSeries(series), call);
        return;
      } catch (error) {
        // Events expire after an hour: write a new one that carries the count.
        if (!isNotFound(error)) throw error;
      }
    }
    const identity = { reportingController, reportingInstance, suffix: randomBytes(8).toString("hex") };
    const event = renderEvent(series.event, identity, series);
    await writer.create(event, call);
    series.name = event.metadata?.name;
  }

  #giveUp(series: Series, error: unknown): void {
    const { reason, regarding } = series.event;
    const { logger } = this.#options;
    const fields = { reason, kind: regarding.kind, name: regarding.name };
    this.#series.forget(series);
    // Expected: nothing to act on.
    if (isNamespaceTerminating(error)) logger.info("event not written: its namespace is terminating", fields);
    else logger.error("event not written", error, fields);
  }
}

function isNamespaceTerminating(error: unknown): boolean {
  return error instanceof KubeApiError && error.causes.some(({ reason }) => reason === "NamespaceTerminating");
}

/** Worth a retry: no response, overload, or a server that is starting or stopping. Any other rejection is final. */
function isRetryable(error: unknown): boolean {
  return !(error instanceof KubeApiError) || error.status === 429 || error.status >= 500;
}
