// Starts everything in order and stops it in reverse within a deadline: one failing part ends the whole process.
// It knows no controller, cache or server by name, and never exits the process; its caller does.
import { type Clock, sleep } from "../core/clock.ts";
import { InvariantError, NotLeaderError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { Probes } from "../serving/probes.ts";
import { refreshForLeader } from "./leader-refresh.ts";
import { GROUPS, type Group, type Runnable } from "./runnable.ts";
import { type Stage, startStage } from "./stage.ts";

export interface ManagerOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Started first and fed with the checks of everything else. Absent: no probes. */
  readonly probes?: Probes;
  /** For the whole stop. Default 8 s. */
  readonly shutdownTimeoutMs?: number;
  /**
   * For a group to become ready (servers listening, caches synced), and for the caches to become current once the lease is won.
   * Waiting for the lease has no limit. Default 2 min.
   */
  readonly startTimeoutMs?: number;
}

/** Starts everything in order and stops it in reverse within a deadline. One failing part stops all. */
export interface Manager {
  /** Everything is added before `run`. */
  add(runnable: Runnable): void;
  /** Runs until the signal fires or `stop` is called, then stops cleanly. Rejects with the error of the part that failed first. */
  run(signal: AbortSignal): Promise<void>;
  /** Asks for a clean stop; asked a second time, `run` rejects at once with ForcedStopError. */
  stop(): void;
}

/** Some part did not end within the shutdown deadline. */
export class ShutdownTimeoutError extends Error {
  override readonly name = "ShutdownTimeoutError";
}

/** The stop was asked for twice: nothing more is waited for. */
export class ForcedStopError extends Error {
  override readonly name = "ForcedStopError";
}

type Ending = { readonly type: "stop" } | { readonly type: "failure"; readonly error: unknown };

/** After the lease is lost nothing may linger: another process may begin a few seconds later. */
const LOST_LEASE_STOP_MS = 1_000;

/** A manager with nothing to run yet. */
export function createManager(options: ManagerOptions): Manager {
  const { logger, clock, probes, shutdownTimeoutMs = 8_000, startTimeoutMs = 120_000 } = options;
  const runnables: Runnable[] = [];
  const ready = new Set<Runnable>();
  const stages: Stage[] = [];
  const lateErrors: unknown[] = [];
  const ended = Promise.withResolvers<Ending>();
  const forced = Promise.withResolvers<void>();
  /** Fires as soon as it is known that the process will end: cuts short whatever the start waits for. */
  const ending = new AbortController();
  let running = false;
  let stopRequests = 0;

  const end = (how: Ending): void => {
    ended.resolve(how);
    ending.abort();
  };

  const stop = (): void => {
    stopRequests += 1;
    if (stopRequests > 1) forced.resolve();
    else logger.info("stopping");
    end({ type: "stop" });
  };

  const onFailure = (runnable: Runnable, error: unknown): void => {
    logger.error(ending.signal.aborted ? "failed while stopping" : "failed, stopping", error, { part: runnable.name });
    if (ending.signal.aborted) lateErrors.push(error);
    end({ type: "failure", error });
  };

  const add = (runnable: Runnable): void => {
    if (running) throw new InvariantError(`${runnable.name} was added to a running manager`);
    if (runnables.some(({ name }) => name === runnable.name))
      throw new InvariantError(`two parts named ${runnable.name}`);
    runnables.push(runnable);
    const { name, problem } = runnable;
    if (problem !== undefined) probes?.addHealthCheck(name, () => runnable.problem?.());
    if (runnable.group === "servers" || runnable.group === "caches")
      probes?.addReadyCheck(name, () => (ready.has(runnable) ? undefined : "not ready yet"));
  };

  const startGroup = async (group: Group): Promise<void> => {
    const members = runnables.filter((runnable) => runnable.group === group);
    if (members.length === 0) return;
    const stage = startStage(group, members, onFailure);
    stages.push(stage);
    const waits = members.map(async (runnable) => {
      await runnable.whenReady?.(ending.signal);
      ready.add(runnable);
    });
    try {
      if (group === "election") {
        await Promise.all(waits);
        // Caches synced before the election: the former leader may have written since, and a watch may have stood still.
        await refreshForLeader({ runnables, clock, logger, timeoutMs: startTimeoutMs }, ending.signal);
      } else await within(Promise.all(waits), members);
      logger.debug("started", { group });
    } catch (error) {
      // A wait that was cut short is no failure of its own.
      if (!ending.signal.aborted) end({ type: "failure", error });
    }
  };

  const within = async (waits: Promise<unknown>, members: readonly Runnable[]): Promise<void> => {
    const waited = new AbortController();
    const tooLong = async (): Promise<void> => {
      await sleep(clock, startTimeoutMs, AbortSignal.any([waited.signal, ending.signal]));
      const names = members.filter((runnable) => !ready.has(runnable)).map(({ name }) => name);
      throw new Error(`not ready within ${startTimeoutMs / 1000} s: ${names.join(", ")}`);
    };
    try {
      await Promise.race([waits, tooLong()]);
    } finally {
      waited.abort();
    }
  };

  /** True when everything ended in time. */
  const stopStages = async (budgetMs: number): Promise<boolean> => {
    const giveUp = new AbortController();
    const cancel = clock.after(budgetMs, () => giveUp.abort());
    void forced.promise.then(() => giveUp.abort());
    try {
      for (const stage of stages.toReversed()) if (!(await stage.stop(giveUp.signal))) return false;
      return true;
    } finally {
      cancel();
    }
  };

  const finish = async (how: Ending): Promise<void> => {
    const lostLease = how.type === "failure" && how.error instanceof NotLeaderError;
    const clean = await stopStages(lostLease ? Math.min(LOST_LEASE_STOP_MS, shutdownTimeoutMs) : shutdownTimeoutMs);
    const stuck = clean ? [] : stages.flatMap((stage) => stage.unfinished());
    if (!clean) for (const stage of stages) stage.abandon();
    if (stuck.length > 0) logger.info("not everything ended", { parts: stuck });
    if (how.type === "failure") throw how.error;
    if (stopRequests > 1) throw new ForcedStopError("the stop was asked for twice");
    if (stuck.length > 0) throw new ShutdownTimeoutError(`still running after the deadline: ${stuck.join(", ")}`);
    if (lateErrors.length > 0) throw lateErrors[0];
    logger.info("stopped");
  };

  if (probes !== undefined) {
    add(probes);
    probes.addReadyCheck("shutdown", () => (ending.signal.aborted ? "the process is stopping" : undefined));
  }

  return {
    add,
    stop,
    async run(signal) {
      if (running) throw new InvariantError("a manager runs once");
      running = true;
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
      try {
        for (const group of GROUPS) if (!ending.signal.aborted) await startGroup(group);
        await finish(await ended.promise);
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
  };
}
