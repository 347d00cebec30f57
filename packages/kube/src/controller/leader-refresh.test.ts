// The manager between acquiring the lease and the first reconcile.
import { expect, test } from "vitest";
import { CONFIG_MAPS } from "../../test/support/cache-fixtures.ts";
import { NotLeaderError } from "../core/errors.ts";
import { type Logger, silentLogger } from "../core/logger.ts";
import { untilAborted } from "../core/until-aborted.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { MemoryCache } from "../testing/memory-cache.ts";
import { createManager } from "./manager.ts";
import { cacheRunnable, type Group, type Runnable } from "./runnable.ts";

interface Refresh {
  readonly done: () => void;
  readonly signal: AbortSignal;
}

function setUp() {
  const clock = new ManualClock();
  const log: string[] = [];
  const lines: { readonly message: string; readonly fields: object | undefined }[] = [];
  const logger: Logger = {
    ...silentLogger,
    info: (message, fields) => lines.push({ message, fields }),
    with: () => logger,
  };
  const manager = createManager({ logger, clock });
  const failures = new Map<string, (error: unknown) => void>();
  const part = (group: Group, more: Partial<Runnable> = {}): void => {
    const failed = Promise.withResolvers<void>();
    const name = more.name ?? group;
    failures.set(name, failed.reject);
    manager.add({
      name,
      group,
      async run(signal) {
        log.push(`+${name}`);
        const stop = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        await Promise.race([failed.promise, stop]);
        log.push(`-${name}`);
      },
      abandon: () => log.push(`abandoned ${name}`),
      ...more,
    });
  };
  const refreshes = new Map<string, Refresh>();
  /** A cache whose refresh the test completes. */
  const cache = (name: string): void =>
    part("caches", {
      name,
      refresh: (signal) => {
        log.push(`refresh ${name}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        refreshes.set(name, { done: resolve, signal });
        return untilAborted(promise, signal);
      },
    });
  const stop = new AbortController();
  const start = async (): Promise<{ readonly running: Promise<void> }> => {
    const running = manager.run(stop.signal);
    // Every test awaits the outcome later; until then a rejection is expected.
    running.catch(() => undefined);
    await clock.advance(0);
    return { running };
  };
  const fail = (name: string, error: unknown): void => failures.get(name)?.(error);
  return { clock, log, lines, part, cache, refreshes, fail, start, stop };
}

test("leader-only work starts only when every cache is as new as the lease", async () => {
  const { clock, log, part, cache, refreshes, start, stop } = setUp();
  const won = Promise.withResolvers<void>();
  for (const name of ["engines", "pods"]) cache(name);
  part("election", { whenReady: (signal) => untilAborted(won.promise, signal) });
  part("leader-services");
  part("controllers");
  const { running } = await start();
  // The caches of a standby only follow their watches.
  await clock.advance(3_600_000);
  expect(log).toEqual(["+engines", "+pods", "+election"]);
  won.resolve();
  await clock.advance(0);
  expect(log.splice(0)).toEqual(["+engines", "+pods", "+election", "refresh engines", "refresh pods"]);
  refreshes.get("engines")?.done();
  await clock.advance(0);
  expect(log).toEqual([]);
  refreshes.get("pods")?.done();
  await clock.advance(0);
  expect(log).toEqual(["+leader-services", "+controllers"]);
  // Once per election: nothing lists afterwards.
  await clock.advance(3_600_000);
  expect([log.length, clock.pending]).toEqual([2, 0]);
  stop.abort();
  await running;
});

test("the manager refreshes a cache", async () => {
  const abort = new AbortController();
  const refreshed: AbortSignal[] = [];
  const cache = Object.assign(new MemoryCache(CONFIG_MAPS), {
    refresh: async (signal: AbortSignal) => void refreshed.push(signal),
  });
  await cacheRunnable(cache).refresh?.(abort.signal);
  expect(refreshed).toEqual([abort.signal]);
});

test("without an election nothing is refreshed", async () => {
  const { log, part, cache, start, stop } = setUp();
  cache("engines");
  part("controllers");
  const { running } = await start();
  expect(log).toEqual(["+engines", "+controllers"]);
  stop.abort();
  await running;
});

test("losing the lease aborts the refresh, and no controller starts", async () => {
  const { clock, log, part, cache, refreshes, fail, start } = setUp();
  cache("engines");
  part("election");
  part("controllers");
  const { running } = await start();
  fail("election", new NotLeaderError("lease lost"));
  await expect(running).rejects.toThrow(NotLeaderError);
  expect(refreshes.get("engines")?.signal.aborted).toBe(true);
  expect(log).not.toContain("+controllers");
  expect(clock.pending).toBe(0);
});

test("a stop during the refresh is clean, and no controller starts", async () => {
  const { log, part, cache, refreshes, start, stop } = setUp();
  cache("engines");
  part("election");
  part("controllers");
  const { running } = await start();
  stop.abort();
  await running;
  expect(refreshes.get("engines")?.signal.aborted).toBe(true);
  expect(log).toEqual(["+engines", "+election", "refresh engines", "-election", "-engines"]);
});

test("a leader that cannot list logs the caches, and after two minutes releases the lease", async () => {
  const { clock, log, lines, part, cache, refreshes, start } = setUp();
  for (const name of ["engines", "pods"]) cache(name);
  part("election");
  part("controllers");
  const { running } = await start();
  refreshes.get("engines")?.done();
  await clock.advance(10_000);
  expect(lines).toContainEqual({
    message: "refreshing caches before the first reconcile",
    fields: { parts: ["pods"], elapsedMs: 10_000 },
  });
  await clock.advance(109_999);
  expect(log).not.toContain("-election");
  await clock.advance(1);
  // Stopped, not abandoned: the elector releases the lease.
  expect(log).toContain("-election");
  await expect(running).rejects.toThrow("caches not refreshed within 120 s after winning the lease: pods");
  expect(log.filter((line) => line.startsWith("abandoned"))).toEqual([]);
});
