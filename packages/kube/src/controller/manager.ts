// Starts everything in order and stops it in reverse within a deadline: one failing part stops the whole manager. Knows
// no controller, cache or server by name, and never exits the process; its caller does.
import { type Clock, sleep } from "../core/clock.ts";
import { InvariantError, NotLeaderError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { Probes } from "../serving/probes.ts";
import { refreshForLeader } from "./leader-refresh.ts";
import { GROUPS, type Group, type Runnable } from "./runnable.ts";
import { type Stage, startStage } from "./stage.ts";

/** Options of a manager. */
export interface ManagerOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Started first; the checks of all other parts are added to it. Absent: no probes. */
  readonly probes?: Probes;
  /** For the whole shutdown. Default 8 s. */
  readonly shutdownTimeoutMs?: number;
  /**
   * For a group to become ready (servers listening, caches synced), and for the caches to be refreshed once the lease
   * is won. Waiting for the lease has no limit. Default 2 min.
   */
  readonly startTimeoutMs?: number;
}

/** Starts everything in order and stops it in reverse within a deadline. One failing part stops all others. */
export interface Manager {
  /** Everything is added before `run`. */
  add(runnable: Runnable): void;
  /**
   * Runs until the signal fires or `stop` is called, then shuts down. Rejects with the error of the first part that
   * failed.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Requests a clean shutdown; on the second call `run` rejects at once with ForcedStopError. */
  stop(): void;
}

/** A part did not stop within the shutdown deadline. */
export class ShutdownTimeoutError extends Error {
  override readonly name = "ShutdownTimeoutError";
}

/** The stop was requested twice: nothing more is waited for. */
export class ForcedStopError extends Error {
  override readonly name = "ForcedStopError";
}

type Ending = { readonly type: "stop" } | { readonly type: "failure"; readonly error: unknown };

/** After the lease is lost nothing may linger: another process may start within seconds. */
const LOST_LEASE_STOP_MS = 1_000;

/** Creates a manager with nothing to run yet. */
export function createManager(options: ManagerOptions): Manager {
  return new RunnableManager(options);
}

class RunnableManager implements Manager {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #probes: Probes | undefined;
  readonly #shutdownTimeoutMs: number;
  readonly #startTimeoutMs: number;
  readonly #runnables: Runnable[] = [];
  readonly #ready = new Set<Runnable>();
  readonly #stages: Stage[] = [];
  readonly #lateErrors: unknown[] = [];
  readonly #ended = Promise.withResolvers<Ending>();
  readonly #forced = Promise.withResolvers<void>();
  /** Aborts as soon as the outcome is known: interrupts whatever the start waits for. */
  readonly #ending = new AbortController();
  #running = false;
  #stopRequests = 0;

  constructor(options: ManagerOptions) {
    this.#logger = options.logger;
    this.#clock = options.clock;
    this.#probes = options.probes;
    this.#shutdownTimeoutMs = options.shutdownTimeoutMs ?? 8_000;
    this.#startTimeoutMs = options.startTimeoutMs ?? 120_000;
    if (this.#probes === undefined) return;
    this.add(this.#probes);
    this.#probes.addReadyCheck("shutdown", () => (this.#isEnding ? "the process is shutting down" : undefined));
  }

  add(runnable: Runnable): void {
    const { name, group } = runnable;
    if (this.#running) throw new InvariantError(`${name} was added to a running manager`);
    if (this.#runnables.some((other) => other.name === name))
      throw new InvariantError(`two parts of the manager are named ${name}`);
    this.#runnables.push(runnable);
    if (runnable.problem !== undefined) this.#probes?.addHealthCheck(name, () => runnable.problem?.());
    if (group === "servers" || group === "caches")
      this.#probes?.addReadyCheck(name, () => (this.#ready.has(runnable) ? undefined : "not ready yet"));
  }

  // A field, because it is also the listener on the signal of `run`.
  readonly stop = (): void => {
    this.#stopRequests += 1;
    if (this.#stopRequests > 1) this.#forced.resolve();
    else this.#logger.info("shutting down");
    this.#end({ type: "stop" });
  };

  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) throw new InvariantError("a manager runs only once");
    this.#running = true;
    if (signal.aborted) this.stop();
    else signal.addEventListener("abort", this.stop, { once: true });
    try {
      for (const group of GROUPS) if (!this.#isEnding) await this.#startGroup(group);
      await this.#finish(await this.#ended.promise);
    } finally {
      signal.removeEventListener("abort", this.stop);
    }
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  #end(how: Ending): void {
    this.#ended.resolve(how);
    this.#ending.abort();
  }

  #fail(runnable: Runnable, error: unknown): void {
    const message = this.#isEnding ? "part failed during shutdown" : "part failed, shutting down";
    this.#logger.error(message, error, { part: runnable.name });
    if (this.#isEnding) this.#lateErrors.push(error);
    this.#end({ type: "failure", error });
  }

  async #startGroup(group: Group): Promise<void> {
    const members = this.#runnables.filter((runnable) => runnable.group === group);
    if (members.length === 0) return;
    this.#stages.push(startStage(group, members, (runnable, error) => this.#fail(runnable, error)));
    const waits = members.map(async (runnable) => {
      await runnable.whenReady?.(this.#ending.signal);
      this.#ready.add(runnable);
    });
    try {
      if (group === "election") await this.#becomeLeader(waits);
      else await this.#readyInTime(waits, members);
      this.#logger.debug("started", { group });
    } catch (error) {
      // An interrupted wait is not a failure of its own.
      if (!this.#isEnding) this.#end({ type: "failure", error });
    }
  }

  async #becomeLeader(waits: readonly Promise<void>[]): Promise<void> {
    await Promise.all(waits);
    // Caches synced before the election: the former leader may have written since, and a watch may have stalled.
    const parts = { runnables: this.#runnables, clock: this.#clock, logger: this.#logger };
    await refreshForLeader({ ...parts, timeoutMs: this.#startTimeoutMs }, this.#ending.signal);
  }

  async #readyInTime(waits: readonly Promise<void>[], members: readonly Runnable[]): Promise<void> {
    const waited = new AbortController();
    const tooLong = async (): Promise<void> => {
      await sleep(this.#clock, this.#startTimeoutMs, AbortSignal.any([waited.signal, this.#ending.signal]));
      const names = members.filter((runnable) => !this.#ready.has(runnable)).map(({ name }) => name);
      throw new Error(`not ready within ${this.#startTimeoutMs / 1000} s: ${names.join(", ")}`);
    };
    try {
      await Promise.race([Promise.all(waits), tooLong()]);
    } finally {
      waited.abort();
    }
  }

  /** True if everything stopped in time. */
  async #stopStages(budgetMs: number): Promise<boolean> {
    const giveUp = new AbortController();
    const cancel = this.#clock.after(budgetMs, () => giveUp.abort());
    void this.#forced.promise.then(() => giveUp.abort());
    try {
      for (const stage of this.#stages.toReversed()) if (!(await stage.stop(giveUp.signal))) return false;
      return true;
    } finally {
      cancel();
    }
  }

  async #finish(how: Ending): Promise<void> {
    const lostLease = how.type === "failure" && how.error instanceof NotLeaderError;
    const limitMs = lostLease ? Math.min(LOST_LEASE_STOP_MS, this.#shutdownTimeoutMs) : this.#shutdownTimeoutMs;
    const clean = await this.#stopStages(limitMs);
    const stuck = clean ? [] : this.#stages.flatMap((stage) => stage.unfinished());
    if (!clean) for (const stage of this.#stages) stage.abandon();
    if (stuck.length > 0) this.#logger.info("parts did not stop in time", { parts: stuck });
    if (how.type === "failure") throw how.error;
    if (this.#stopRequests > 1) throw new ForcedStopError("the stop was requested twice");
    if (stuck.length > 0) throw new ShutdownTimeoutError(`still running after the deadline: ${stuck.join(", ")}`);
    if (this.#lateErrors.length > 0) throw this.#lateErrors[0];
    this.#logger.info("stopped");
  }
}
