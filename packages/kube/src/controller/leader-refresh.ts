// Refreshes every cache between winning the lease and the first reconcile. A standby's watch may have stalled while the
// former leader wrote; a reconcile on such a state would undo that leader's work.
import { type Clock, sleep } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { Runnable } from "./runnable.ts";

export interface LeaderRefreshOptions {
  readonly runnables: readonly Runnable[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** After this long another replica should lead: this one cannot read the state it would act on. */
  readonly timeoutMs: number;
}

const REPORT_EVERY_MS = 10_000;

/** Resolves when all are current; rejects on timeout, and with the signal's reason when it fires. */
export async function refreshForLeader(options: LeaderRefreshOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger, timeoutMs } = options;
  const behind = new Set(options.runnables.filter(({ refresh }) => refresh !== undefined));
  if (behind.size === 0) return;
  const startedMs = clock.monotonicMs();
  const elapsedMs = (): number => Math.round(clock.monotonicMs() - startedMs);
  const names = (): string[] => [...behind].map(({ name }) => name);
  const done = new AbortController();
  const ended = AbortSignal.any([signal, done.signal]);
  const all = Promise.all(
    [...behind].map(async (runnable) => {
      await runnable.refresh?.(ended);
      behind.delete(runnable);
    }),
  );
  const report = async (): Promise<never> => {
    for (;;) {
      await sleep(clock, Math.min(REPORT_EVERY_MS, timeoutMs - elapsedMs()), ended);
      if (elapsedMs() >= timeoutMs)
        throw new Error(
          `caches not refreshed within ${timeoutMs / 1000} s after winning the lease: ${names().join(", ")}`,
        );
      logger.info("refreshing caches before the first reconcile", {
        parts: names(),
        elapsedMs: elapsedMs(),
      });
    }
  };
  try {
    await Promise.race([all, report()]);
    logger.info("caches refreshed", { elapsedMs: elapsedMs() });
  } finally {
    done.abort();
  }
}
