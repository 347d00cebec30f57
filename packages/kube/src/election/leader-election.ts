// Holds a Lease for this process. While it leads, `assertLeading` is the fence in front of every write: it relies only
// on the start of the last successful renewal and on the local clocks. Losing the lease is final; the process must
// exit.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Runnable } from "../controller/runnable.ts";
import type { Clock } from "../core/clock.ts";
import { isAlreadyExists, isConflict, isNotFound, NotLeaderError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import { formatKey } from "../core/object.ts";
import { pause, untilAborted } from "../core/until-aborted.ts";
import type { EventSink } from "../events/object.ts";
import type { RuntimeMetrics } from "../metrics/runtime.ts";
import {
  type Claim,
  firstClaim,
  holderOf,
  isHeldByOther,
  type Lease,
  type LeaseObservation,
  nextClaim,
  observeLease,
  releasedSpec,
} from "./lease.ts";
import type { LeaseStore } from "./lease-store.ts";
import { type ElectionTiming, RETRY_JITTER, validateElectionTiming } from "./timing.ts";

/** Options of an elector. */
export interface LeaderElectorOptions {
  readonly store: LeaseStore;
  readonly timing: ElectionTiming;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: RuntimeMetrics;
  readonly events?: EventSink;
  /** Default `<hostname>_<uuid>`. */
  readonly identity?: string;
  /** Between 0 and 1, for the jitter. */
  readonly random?: () => number;
}

/** Holds a Lease for this process; `assertLeading` is the fence in front of its writes. */
export interface LeaderElector extends Runnable {
  readonly identity: string;
  readonly leading: boolean;
  whenLeading(signal: AbortSignal): Promise<void>;
  /** Throws NotLeaderError unless this process may write now. Call it before every write. */
  assertLeading(): void;
}

interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const RELEASE_TIMEOUT_MS = 2_000;

/** Creates an elector. Throws a TypeError for invalid durations. */
export function createLeaderElector(options: LeaderElectorOptions): LeaderElector {
  const violations = validateElectionTiming(options.timing);
  if (violations.length > 0) throw new TypeError(violations.join("; "));
  return new Elector(options);
}

class Elector implements LeaderElector {
  readonly group = "election";
  readonly name: string;
  readonly identity: string;
  readonly #options: LeaderElectorOptions;
  readonly #logger: Logger;
  readonly #won = Promise.withResolvers<void>();
  #state: "standby" | "leading" | "ended" = "standby";
  /** The lease as this process last wrote it. */
  #held: Lease | undefined;
  /** When the last successful renewal *began*, by both clocks: no other process can count from an earlier moment. */
  #renewed: Moment = { monotonicMs: Number.NEGATIVE_INFINITY, wallMs: Number.NEGATIVE_INFINITY };
  #observed: LeaseObservation | undefined;
  #otherHolder: string | undefined;
  /** A claim was sent and its outcome is unknown, or it succeeded: there is something to release. */
  #mayHold = false;
  #abandoned = false;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.name = `lease-${options.store.key.name}`;
    this.identity = options.identity ?? `${hostname()}_${randomUUID()}`;
    this.#logger = options.logger.with({ lease: formatKey(options.store.key), identity: this.identity });
  }

  get leading(): boolean {
    return this.#state === "leading" && this.#ageMs() <= this.#options.timing.renewDeadlineMs;
  }

  assertLeading(): void {
    if (this.#state !== "leading") throw new NotLeaderError(`${this.identity} does not hold the lease`);
    const ageMs = this.#ageMs();
    if (ageMs > this.#options.timing.renewDeadlineMs)
      throw new NotLeaderError(`${this.identity} last renewed the lease ${Math.round(ageMs)} ms ago`);
  }

  whenLeading(signal: AbortSignal): Promise<void> {
    return untilAborted(this.#won.promise, signal);
  }

  whenReady(signal: AbortSignal): Promise<void> {
    return this.whenLeading(signal);
  }

  abandon(): void {
    this.#abandoned = true;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#setMetric(false);
    try {
      await this.#acquire(signal);
      await this.#keep(signal);
    } finally {
      this.#state = "ended";
      this.#setMetric(false);
    }
    // Reached only on a clean stop. Work that is still running must not overlap with another leader's.
    if (this.#mayHold && !this.#abandoned) await this.#release();
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    const { timing, clock, random = Math.random } = this.#options;
    while (!signal.aborted) {
      if (await this.#attempt(timing.renewDeadlineMs, signal)) {
        this.#state = "leading";
        this.#setMetric(true);
        this.#logger.info("lease acquired");
        this.#announce();
        this.#won.resolve();
        return;
      }
      await pause(clock, timing.retryMs * (1 + (RETRY_JITTER - 1) * random()), signal);
    }
  }

  /** Renews until the signal fires; throws when the deadline passes or another process holds the lease. */
  async #keep(signal: AbortSignal): Promise<void> {
    const { retryMs } = this.#options.timing;
    while (!signal.aborted) {
      await pause(this.#options.clock, Math.min(retryMs, this.#remainingMs()), signal);
      if (signal.aborted) return;
      // Check the clock first: after a long pause of the process the lease belongs to another, whatever a renewal
      // returns.
      if (this.#remainingMs() <= 0) this.#lost("not renewed in time");
      await this.#attempt(this.#remainingMs(), signal);
      if (this.#otherHolder !== undefined) this.#lost(`the holder is ${this.#otherHolder}`);
    }
  }

  #lost(reason: string): never {
    this.#state = "ended";
    const error = new NotLeaderError(`lease lost: ${reason}`);
    this.#logger.error("lease lost", error);
    throw error;
  }

  /** One attempt to acquire or renew the lease, never longer than the limit. False if it did not succeed. */
  async #attempt(limitMs: number, signal: AbortSignal): Promise<boolean> {
    const { clock, timing } = this.#options;
    const started = this.#moment();
    const limit = new AbortController();
    const cancel = clock.after(limitMs, () => limit.abort(new Error(`no response within ${Math.round(limitMs)} ms`)));
    const ended = AbortSignal.any([signal, limit.signal]);
    // Half of the deadline, so that one lost connection leaves time for another attempt.
    const timeoutMs = Math.min(limitMs, timing.renewDeadlineMs / 2);
    try {
      const lease = await untilAborted(this.#claim({ signal: ended, timeoutMs }), ended);
      if (lease === undefined) return false;
      this.#held = lease;
      // A process that was paused while the response was in flight has nothing left of this renewal.
      if (this.#sinceMs(started) >= timing.renewDeadlineMs) return false;
      this.#renewed = started;
      this.#otherHolder = undefined;
      return true;
    } catch (error) {
      this.#held = undefined;
      if (isConflict(error) || isAlreadyExists(error)) this.#logger.debug("lease changed during the attempt");
      else if (!signal.aborted) this.#logger.error("lease attempt failed", error);
      return false;
    } finally {
      cancel();
    }
  }

  /** Writes our claim; returns undefined if another process holds the lease. */
  async #claim(call: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<Lease | undefined> {
    const { store, timing, clock } = this.#options;
    const claim: Claim = { identity: this.identity, leaseMs: timing.leaseMs, nowMs: clock.now() };
    // We wrote the last version: renew it without reading. On a conflict it is read below.
    if (this.#held !== undefined) {
      try {
        return await store.replace({ ...this.#held, spec: nextClaim(this.#held, claim) }, call);
      } catch (error) {
        if (!isConflict(error) && !isNotFound(error)) throw error;
        this.#held = undefined;
      }
    }
    const lease = await store.read(call);
    const holder = lease === undefined ? undefined : holderOf(lease);
    // A leader never takes its lease back, not even a free one: another process may have acted in between.
    if (this.#state === "leading" && holder !== this.identity) return this.#yieldTo(holder ?? "none");
    if (lease === undefined) {
      this.#mayHold = true;
      return store.create(firstClaim(claim), call);
    }
    const nowMs = clock.monotonicMs();
    this.#observed = observeLease(this.#observed, lease, nowMs);
    if (isHeldByOther(lease, claim, nowMs - this.#observed.sinceMs)) return this.#yieldTo(holder ?? "none");
    this.#mayHold = true;
    return store.replace({ ...lease, spec: nextClaim(lease, claim) }, call);
  }

  #yieldTo(holder: string): undefined {
    if (holder !== this.#otherHolder) this.#logger.info("another process holds the lease", { holder });
    this.#otherHolder = holder;
  }

  #announce(): void {
    const { events, store } = this.#options;
    const uid = this.#held?.metadata?.uid;
    const regarding = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", ...store.key };
    events?.record({
      regarding: uid === undefined ? regarding : { ...regarding, uid },
      type: "Normal",
      reason: "LeaderElection",
      action: "Acquire",
      note: `${this.identity} became leader`,
    });
  }

  async #release(): Promise<void> {
    const { store, clock } = this.#options;
    const call = { timeoutMs: RELEASE_TIMEOUT_MS };
    try {
      // Read first: an interrupted attempt may have been written after all.
      const lease = await store.read(call);
      if (lease === undefined || holderOf(lease) !== this.identity) return;
      await store.replace({ ...lease, spec: releasedSpec(lease, clock.now()) }, call);
      this.#logger.info("lease released");
    } catch (error) {
      this.#logger.error("lease not released, it will expire", error);
    }
  }

  #setMetric(leading: boolean): void {
    this.#options.metrics.leading(this.#options.store.key.name, leading);
  }

  #moment(): Moment {
    return { monotonicMs: this.#options.clock.monotonicMs(), wallMs: this.#options.clock.now() };
  }

  /**
   * The longer of the two: the monotonic clock stops while the machine is suspended, the wall clock may be set back.
   */
  #sinceMs({ monotonicMs, wallMs }: Moment): number {
    const now = this.#moment();
    return Math.max(now.monotonicMs - monotonicMs, now.wallMs - wallMs);
  }

  #ageMs(): number {
    return this.#sinceMs(this.#renewed);
  }

  #remainingMs(): number {
    return this.#options.timing.renewDeadlineMs - this.#ageMs();
  }
}
