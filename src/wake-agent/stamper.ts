// Writes wake requests on engines: one stamp per engine and interval however many requests wait, again while they wait, and until
// one has been accepted even when they have left. It writes for engines that exist and can be woken, and for no other name.
import { type Clock, type DeepReadonly, KubeApiError, type Logger } from "@firebolt-operator/kube";
import { timeText } from "../api/condition-list.ts";
import { ANNOTATION } from "../api/labels.ts";
import type { WatchedEngine } from "./kinds.ts";
import { isWakeable } from "./standing.ts";
import type { WaitingRoom } from "./waiting-room.ts";

export interface StamperOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly engine: (name: string) => DeepReadonly<WatchedEngine> | undefined;
  /** Requests that wait now. */
  readonly waiting: Pick<WaitingRoom, "countOf" | "engines" | "size">;
  /** Stores the time on the engine; rejects when it was not stored. */
  readonly write: (engine: string, time: string, signal: AbortSignal) => Promise<void>;
}

/** A stamp counts for five minutes: this often is enough to bridge any rollout in between, and to outlive a lost write. */
export const RESTAMP_MS = 10_000;
const TICK_MS = 1_000;
/** A request whose client has left is worth trying for this long. */
const OWED_MS = 60_000;
const COMPLAIN_EVERY_MS = 60_000;

export class Stamper {
  readonly #options: StamperOptions;
  /** Requests that no accepted stamp has answered yet, by the time of the newest. */
  readonly #owed = new Map<string, number>();
  readonly #stampedMs = new Map<string, number>();
  readonly #writing = new Set<string>();
  /** Engines whose last wake request the API server rejected, for the agent's identity or its rights. */
  readonly #denied = new Set<string>();
  #complainedMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #signal: AbortSignal | undefined;
  #cancelTick: (() => void) | undefined;

  constructor(options: StamperOptions) {
    this.#options = options;
  }

  /** Wake requests that could not be written, so far. */
  get failures(): number {
    return this.#failures;
  }

  /** Whether the API server rejects wake requests for this engine: its start has not been requested by this agent. */
  isDenied(engine: string): boolean {
    return this.#denied.has(engine);
  }

  /** Nothing is written before this, nor after the signal. */
  open(signal: AbortSignal): void {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#cancelTick?.(), { once: true });
  }

  /** A request for this engine has arrived. */
  want(engine: string): void {
    this.#owed.set(engine, this.#options.clock.monotonicMs());
    this.consider(engine);
    this.#scheduleTick();
  }

  /** Something about the engine has changed: perhaps it can be woken now. */
  consider(name: string): void {
    const { clock, engine, waiting } = this.#options;
    const found = engine(name);
    if (found === undefined) this.#forget(name);
    if (found === undefined || !isWakeable(found) || this.#writing.has(name)) return;
    if (!this.#owed.has(name) && waiting.countOf(name) === 0) return;
    const stampMs = stampMsFor(found, clock.now());
    // Another gateway's stamp is as good as one's own, unless the engine has been scaled since.
    const newest = Math.max(this.#stampedMs.get(name) ?? 0, stampOf(found));
    if (newest > scaledMsOf(found) && Math.abs(stampMs - newest) < RESTAMP_MS) {
      this.#owed.delete(name);
      this.#denied.delete(name);
      return;
    }
    void this.#write(name, stampMs);
  }

  async #write(name: string, now: number): Promise<void> {
    const { write, logger } = this.#options;
    const signal = this.#signal;
    if (signal === undefined || signal.aborted) return;
    this.#writing.add(name);
    try {
      await write(name, timeText(now), signal);
      this.#stampedMs.set(name, now);
      this.#owed.delete(name);
      this.#denied.delete(name);
      logger.debug("wake requested", { engine: name });
    } catch (error) {
      if (isDenial(error)) this.#denied.add(name);
      else this.#denied.delete(name);
      if (!signal.aborted) this.#complain(name, error);
    } finally {
      this.#writing.delete(name);
      this.#scheduleTick();
    }
  }

  /** The requests stay held: another gateway, or a later attempt, may wake the engine. */
  #complain(engine: string, error: unknown): void {
    this.#failures++;
    const now = this.#options.clock.monotonicMs();
    if (now - this.#complainedMs < COMPLAIN_EVERY_MS) return;
    this.#complainedMs = now;
    this.#options.logger.error("the wake request could not be written; trying again", error, { engine });
  }

  #tick(): void {
    const { clock, waiting } = this.#options;
    const oldest = clock.monotonicMs() - OWED_MS;
    for (const [name, since] of this.#owed) if (since < oldest) this.#owed.delete(name);
    const names = new Set([...waiting.engines(), ...this.#owed.keys()]);
    for (const name of this.#stampedMs.keys()) if (!names.has(name)) this.#stampedMs.delete(name);
    for (const name of this.#denied) if (!names.has(name)) this.#denied.delete(name);
    for (const name of names) this.consider(name);
    this.#scheduleTick();
  }

  #scheduleTick(): void {
    const idle = this.#owed.size === 0 && this.#options.waiting.size === 0;
    if (this.#cancelTick !== undefined || idle || this.#signal?.aborted === true) return;
    this.#cancelTick = this.#options.clock.after(TICK_MS, () => {
      this.#cancelTick = undefined;
      this.#tick();
    });
  }

  #forget(name: string): void {
    this.#owed.delete(name);
    this.#stampedMs.delete(name);
    this.#denied.delete(name);
  }
}

/** A token that is not accepted (any more), or an account without the right. Both are tried again: tokens and rights come back. */
function isDenial(error: unknown): boolean {
  return error instanceof KubeApiError && (error.status === 401 || error.status === 403);
}

function stampOf({ metadata }: DeepReadonly<WatchedEngine>): number {
  const ms = Date.parse(metadata?.annotations?.[ANNOTATION.wakeRequested] ?? "");
  return Number.isNaN(ms) ? 0 : ms;
}

/** When the operator last scaled the engine, by its own clock. */
function scaledMsOf({ status }: DeepReadonly<WatchedEngine>): number {
  const ms = Date.parse(status?.lastScaledAt ?? "");
  return Number.isNaN(ms) ? 0 : ms;
}

/**
 * The operator ignores requests from before the last scaling. One that is made now is newer, whatever the clock of this node says, so
 * its stamp is too; stamps have whole seconds.
 */
function stampMsFor(engine: DeepReadonly<WatchedEngine>, nowMs: number): number {
  return Math.max(nowMs, scaledMsOf(engine) + 1_000);
}
