import { expect, test } from "vitest";
import { InvariantError, NotLeaderError } from "../core/errors.ts";
import { silentLogger } from "../core/logger.ts";
import { untilAborted } from "../core/until-aborted.ts";
import { createProbes } from "../serving/probes.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { createManager, ForcedStopError, ShutdownTimeoutError } from "./manager.ts";
import type { Group, Runnable } from "./runnable.ts";

interface Part {
  readonly runnable: Runnable;
  readonly ready: () => void;
  readonly fail: (error: unknown) => void;
  readonly end: () => void;
}

function setUp(options: { readonly shutdownTimeoutMs?: number } = {}) {
  const clock = new ManualClock();
  const log: string[] = [];
  const probes = createProbes({ clock, logger: silentLogger, host: "127.0.0.1", port: 0 });
  const manager = createManager({ logger: silentLogger, clock, probes, ...options });
  /** A part that becomes ready and returns when the test says so (by default: at once, and with its signal). */
  const part = (group: Group, how: { readonly waits?: boolean; readonly stubborn?: boolean } = {}): Part => {
    const ready = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    if (how.waits !== true) ready.resolve();
    const runnable: Runnable = {
      name: group,
      group,
      async run(signal) {
        log.push(`+${group}`);
        const stop = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        await Promise.race([ended.promise, how.stubborn === true ? ended.promise : stop]);
        log.push(`-${group}`);
      },
      whenReady: (signal) => untilAborted(ready.promise, signal),
      abandon: () => log.push(`abandoned ${group}`),
    };
    manager.add(runnable);
    return { runnable, ready: ready.resolve, fail: ended.reject, end: ended.resolve };
  };
  const stop = new AbortController();
  const start = (): Promise<void> => {
    const running = manager.run(stop.signal);
    // Every test awaits the outcome later; until then a rejection is expected.
    running.catch(() => undefined);
    return running;
  };
  const statusOf = (path: string): number => probes.respond(new URL(path, "http://localhost")).status;
  /** The probes listen on a real port: wait for it before the rest starts. */
  const started = async (): Promise<void> => {
    await probes.whenReady?.(new AbortController().signal);
    await clock.advance(0);
  };
  return { clock, log, manager, part, start, started, stop, statusOf };
}

test("groups start in order, each when the previous one is ready, and stop in reverse", async () => {
  const { clock, log, part, start, started, stop } = setUp();
  const controllers = part("controllers");
  const election = part("election", { waits: true });
  const caches = part("caches", { waits: true });
  const servers = part("servers");
  const services = part("leader-services");
  expect([controllers, servers, services]).toHaveLength(3);
  const running = start();
  await started();
  expect(log).toEqual(["+servers", "+caches"]);
  caches.ready();
  await clock.advance(0);
  expect(log).toEqual(["+servers", "+caches", "+election"]);
  election.ready();
  await clock.advance(0);
  expect(log.splice(0)).toEqual(["+servers", "+caches", "+election", "+leader-services", "+controllers"]);
  stop.abort();
  await running;
  expect(log).toEqual(["-controllers", "-leader-services", "-election", "-caches", "-servers"]);
});

test("ready when servers listen and caches are synced, leader or not; not ready while stopping", async () => {
  const { clock, part, start, started, stop, statusOf } = setUp();
  const caches = part("caches", { waits: true });
  part("election", { waits: true });
  const controllers = part("background", { stubborn: true });
  expect(statusOf("/readyz")).toBe(503);
  const running = start();
  await started();
  expect(statusOf("/readyz/caches")).toBe(503);
  caches.ready();
  await clock.advance(0);
  expect(statusOf("/readyz")).toBe(200);
  stop.abort();
  await clock.advance(0);
  expect(statusOf("/readyz")).toBe(503);
  controllers.end();
  await running;
});

test("one failing part stops all others, and run rejects with its error", async () => {
  const { log, part, start, started } = setUp();
  part("servers");
  const caches = part("caches");
  part("controllers");
  const running = start();
  await started();
  caches.fail(new Error("broken"));
  await expect(running).rejects.toThrow("broken");
  expect(log).toEqual(["+servers", "+caches", "+controllers", "-controllers", "-servers"]);
});

test("a part that returns early is a failure", async () => {
  const { part, start, started } = setUp();
  const caches = part("caches");
  const running = start();
  await started();
  caches.end();
  await expect(running).rejects.toThrow("caches returned before it was stopped");
});

test("a part that fails during the start aborts the start", async () => {
  const { log, part, start, started } = setUp();
  const servers = part("servers", { waits: true });
  part("controllers");
  const running = start();
  await started();
  servers.fail(new Error("EADDRINUSE"));
  await expect(running).rejects.toThrow("EADDRINUSE");
  expect(log).toEqual(["+servers"]);
});

test("caches that do not sync within two minutes are an error that names them", async () => {
  const { clock, part, start, started } = setUp();
  part("caches", { waits: true });
  const running = start();
  await started();
  await clock.advance(120_000);
  await expect(running).rejects.toThrow("not ready within 120 s: caches");
});

test("waiting for the lease has no limit and a stop ends it cleanly", async () => {
  const { clock, log, part, start, started, stop } = setUp();
  part("election", { waits: true });
  part("controllers");
  const running = start();
  await started();
  await clock.advance(3_600_000);
  stop.abort();
  await running;
  expect(log).toEqual(["+election", "-election"]);
});

test("work that does not stop by the deadline is named, and the lease is not released", async () => {
  const { clock, log, part, start, started, stop } = setUp();
  part("election");
  part("controllers", { stubborn: true });
  const running = start();
  await started();
  stop.abort();
  await clock.advance(7_999);
  expect(log).toEqual(["+election", "+controllers"]);
  await clock.advance(1);
  await expect(running).rejects.toThrow(ShutdownTimeoutError);
  await expect(running).rejects.toThrow("controllers");
  expect(log).toContain("abandoned election");
});

test("after the lease is lost the shutdown has one second", async () => {
  const { clock, part, start, started } = setUp();
  const election = part("election");
  part("controllers", { stubborn: true });
  const running = start();
  await started();
  election.fail(new NotLeaderError("lease lost"));
  let ended = false;
  running.catch(() => {
    ended = true;
  });
  await clock.advance(999);
  expect(ended).toBe(false);
  await clock.advance(1);
  await expect(running).rejects.toThrow(NotLeaderError);
});

test("a second stop request ends the shutdown at once", async () => {
  const { clock, manager, part, start, started } = setUp();
  part("controllers", { stubborn: true });
  const running = start();
  await started();
  manager.stop();
  await clock.advance(0);
  manager.stop();
  await expect(running).rejects.toThrow(ForcedStopError);
});

test("stopped before it began, it starts nothing", async () => {
  const { log, part, start, stop } = setUp();
  part("servers");
  stop.abort();
  await start();
  expect(log).toEqual([]);
});

test("the problem of a part appears in /healthz under its name", async () => {
  const { manager, statusOf } = setUp();
  let problem: string | undefined;
  manager.add({ name: "worker", group: "controllers", run: () => Promise.resolve(), problem: () => problem });
  expect(statusOf("/healthz")).toBe(200);
  problem = "stuck";
  expect(statusOf("/healthz/worker")).toBe(503);
});

test("names are unique, and nothing can be added to a running manager", async () => {
  const { manager, part, start, started, stop } = setUp();
  const { runnable } = part("caches");
  expect(() => manager.add(runnable)).toThrow(InvariantError);
  const running = start();
  await started();
  expect(() => manager.add({ ...runnable, name: "late" })).toThrow(InvariantError);
  stop.abort();
  await running;
});
