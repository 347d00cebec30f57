// Writes wake requests to engines: one per engine and interval however many requests wait, repeated while they wait,
// and until one is accepted even if the clients have disconnected. Only for engines that exist and can be woken.
import { type Clock, type DeepReadonly, KubeApiError, type Logger } from "@firebolt-operator/kube";
import { timeText } from "../api/condition-list.ts";
import { ANNOTATION } from "../api/labels.ts";
import { isWakeable } from "./availability.ts";
import type { HoldQueue } from "./hold/queue.ts";
import type { WatchedEngine } from "./kinds.ts";

export interface WakeRequesterOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly engine: (name: string) => DeepReadonly<WatchedEngine> | undefined;
  /** The requests that are held now. */
  readonly waiting: Pick<HoldQueue, "countOf" | "engines" | "size">;
  /** Stores the time on the engine; rejects when it was not stored. */
  readonly write: (engine: string, time: string, signal: AbortSignal) => Promise<void>;
}

/** A wake request is valid for five minutes: this interval outlasts any rollout in between, and a lost write. */
export const REPEAT_MS = 10_000;
const TICK_MS = 1_000;
/** How long a wake request is tried for a client that has disconnected. */
const PENDING_MS = 60_000;
const LOG_EVERY_MS = 60_000;

export class WakeRequester {
  readonly #options: WakeRequesterOptions;
  /** Requests that no accepted wake request covers yet, by the time of the newest. */
  readonly #pending = new Map<string, number>();
  /** The time of the last wake request that this agent has written. */
  readonly #writtenMs = new Map<string, number>();
  readonly #writing = new Set<string>();
  /** Engines whose last wake request the API server rejected, because of the agent's identity or permissions. */
  readonly #denied = new Set<string>();
  #loggedMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #signal: AbortSignal | undefined;
  #cancelTick: (() => void) | undefined;

  constructor(options: WakeRequesterOptions) {
    this.#options = options;
  }

  /** Wake requests that could not be written so far. */
  get failures(): number {
    return this.#failures;
  }

  /** Whether the API server rejects wake requests for this engine: this agent has not requested its start. */
  isDenied(engine: string): boolean {
    return this.#denied.has(engine);
  }

  /** No request is written before this call, nor after the signal. */
  open(signal: AbortSignal): void {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#cancelTick?.(), { once: true });
  }

  /** A query for this engine has arrived. */
  request(engine: string): void {
    this.#pending.set(engine, this.#options.clock.monotonicMs());
    this.requestIfDue(engine);
    this.#scheduleTick();
  }

  /** Writes a wake request if one is due: called whenever the engine may have become wakeable. */
  requestIfDue(name: string): void {
    const { clock, engine, waiting } = this.#options;
    const found = engine(name);
    if (found === undefined) this.#forget(name);
    if (found === undefined || !isWakeable(found) || this.#writing.has(name)) return;
    if (!this.#pending.has(name) && waiting.countOf(name) === 0) return;
    const requestMs = requestMsFor(found, clock.now());
    // Another gateway's request counts as well, unless the engine has been scaled since.
    const newest = Math.max(this.#writtenMs.get(name) ?? 0, storedMsOf(found));
    if (newest > scaledMsOf(found) && Math.abs(requestMs - newest) < REPEAT_MS) {
      this.#pending.delete(name);
      this.#denied.delete(name);
      return;
    }
    void this.#write(name, requestMs);
  }

  async #write(name: string, now: number): Promise<void> {
    const { write, logger } = this.#options;
    const signal = this.#signal;
    if (signal === undefined || signal.aborted) return;
    this.#writing.add(name);
    try {
      await write(name, timeText(now), signal);
      this.#writtenMs.set(name, now);
      this.#pending.delete(name);
      this.#denied.delete(name);
      logger.debug("wake requested", { engine: name });
    } catch (error) {
      if (isDenial(error)) this.#denied.add(name);
      else this.#denied.delete(name);
      if (!signal.aborted) this.#logFailure(name, error);
    } finally {
      this.#writing.delete(name);
      this.#scheduleTick();
    }
  }

  /** Requests stay held: another gateway, or a later attempt, may wake the engine. */
  #logFailure(engine: string, error: unknown): void {
    this.#failures++;
    const now = this.#options.clock.monotonicMs();
    if (now - this.#loggedMs < LOG_EVERY_MS) return;
    this.#loggedMs = now;
    this.#options.logger.error("the wake request could not be written; retrying", error, { engine });
  }

  #tick(): void {
    const { clock, waiting } = this.#options;
    const oldest = clock.monotonicMs() - PENDING_MS;
    for (const [name, since] of this.#pending) if (since < oldest) this.#pending.delete(name);
    const names = new Set([...waiting.engines(), ...this.#pending.keys()]);
    for (const name of this.#writtenMs.keys()) if (!names.has(name)) this.#writtenMs.delete(name);
    for (const name of this.#denied) if (!names.has(name)) this.#denied.delete(name);
    for (const name of names) this.requestIfDue(name);
    this.#scheduleTick();
  }

  #scheduleTick(): void {
    const idle = this.#pending.size === 0 && this.#options.waiting.size === 0;
    if (this.#cancelTick !== undefined || idle || this.#signal?.aborted === true) return;
    this.#cancelTick = this.#options.clock.after(TICK_MS, () => {
      this.#cancelTick = undefined;
      this.#tick();
    });
  }

  #forget(name: string): void {
    this.#pending.delete(name);
    this.#writtenMs.delete(name);
    this.#denied.delete(name);
  }
}

/**
 * A token that is no longer accepted, or an account without the permission. Both are retried: tokens and permissions
 * can be restored.
 */
function isDenial(error: unknown): boolean {
  return error instanceof KubeApiError && (error.status === 401 || error.status === 403);
}

/** The newest wake request on the engine, of any gateway. */
function storedMsOf({ metadata }: DeepReadonly<WatchedEngine>): number {
  const ms = Date.parse(metadata?.annotations?.[ANNOTATION.wakeRequested] ?? "");
  return Number.isNaN(ms) ? 0 : ms;
}

/** When the operator last scaled the engine, by its own clock. */
function scaledMsOf({ status }: DeepReadonly<WatchedEngine>): number {
  const ms = Date.parse(status?.lastScaledAt ?? "");
  return Number.isNaN(ms) ? 0 : ms;
}

/**
 * The operator ignores requests from before the last scaling. A request made now is newer, even if the clock of this
 * node is behind, so its time is too; times have whole seconds.
 */
function requestMsFor(engine: DeepReadonly<WatchedEngine>, nowMs: number): number {
  return Math.max(nowMs, scaledMsOf(engine) + 1_000);
}
