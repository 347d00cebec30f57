import { expect, test } from "vitest";
import { NotLeaderError } from "../core/errors.ts";
import { silentLogger } from "../core/logger.ts";
import type { ObjectKey } from "../core/object.ts";
import { silentRuntimeMetrics } from "../metrics/runtime.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import type { Controller, NextCheck, WatchSource } from "./controller.ts";
import { controllerRunnable } from "./run-controller.ts";

function manualSource() {
  const synced = Promise.withResolvers<void>();
  let enqueue: ((key: ObjectKey) => void) | undefined;
  const source: WatchSource = {
    describe: "Thing",
    whenSynced: () => synced.promise,
    start(emit) {
      enqueue = emit;
      return () => {
        enqueue = undefined;
      };
    },
  };
  return {
    source,
    sync: synced.resolve,
    started: () => enqueue !== undefined,
    emit: (name: string) => enqueue?.({ name }),
  };
}

function setUp(reconcile: Controller["reconcile"], concurrency = 1) {
  const clock = new ManualClock();
  const watch = manualSource();
  const controller: Controller = { name: "thing", watches: [watch.source], reconcile, concurrency };
  const runnable = controllerRunnable(controller, { clock, logger: silentLogger, metrics: silentRuntimeMetrics });
  const stop = new AbortController();
  return { clock, watch, runnable, stop, running: runnable.run(stop.signal) };
}

test("no event is processed before every cache is synced", async () => {
  const seen: string[] = [];
  const { clock, watch, stop, running } = setUp(async ({ name }) => {
    seen.push(name);
    return "onChange";
  });
  await clock.advance(1000);
  expect(watch.started()).toBe(false);
  watch.sync();
  await clock.advance(0);
  watch.emit("a");
  await clock.advance(0);
  expect(seen).toEqual(["a"]);
  stop.abort();
  await running;
  expect(watch.started()).toBe(false);
});

test("as many concurrent passes as workers, never two on one key", async () => {
  const gates = new Map<string, PromiseWithResolvers<NextCheck>>();
  const { clock, watch } = setUp(({ name }) => {
    expect(gates.has(name)).toBe(false);
    const gate = Promise.withResolvers<NextCheck>();
    gates.set(name, gate);
    return gate.promise.finally(() => gates.delete(name));
  }, 2);
  watch.sync();
  await clock.advance(0);
  for (const name of ["a", "b", "a", "c"]) watch.emit(name);
  await clock.advance(0);
  expect([...gates.keys()]).toEqual(["a", "b"]);
  watch.emit("a");
  gates.get("b")?.resolve("onChange");
  await clock.advance(0);
  expect([...gates.keys()]).toEqual(["a", "c"]);
});

test("a worker without the lease stops the controller after the other workers have finished", async () => {
  let aborted = false;
  const { clock, watch, running } = setUp(async ({ name }, signal) => {
    if (name === "writer") throw new NotLeaderError("lease lost");
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    aborted = true;
    return "onChange";
  }, 2);
  watch.sync();
  await clock.advance(0);
  watch.emit("reader");
  watch.emit("writer");
  await expect(running).rejects.toThrow(NotLeaderError);
  expect(aborted).toBe(true);
});

test("a stop before the caches are synced is clean", async () => {
  const { stop, watch, running } = setUp(async () => "onChange");
  stop.abort();
  watch.sync();
  await running;
  expect(watch.started()).toBe(false);
});

test("a worker that holds one key for more than ten minutes is a problem until its heartbeat or its end", async () => {
  let beat = (): void => undefined;
  const gate = Promise.withResolvers<NextCheck>();
  const { clock, watch, runnable } = setUp((_key, _signal, pass) => {
    beat = pass.heartbeat;
    return gate.promise;
  });
  watch.sync();
  await clock.advance(0);
  watch.emit("a");
  await clock.advance(600_000);
  expect(runnable.problem?.()).toBeUndefined();
  await clock.advance(1000);
  expect(runnable.problem?.()).toBe("a worker has held one key for 601 s");
  beat();
  expect(runnable.problem?.()).toBeUndefined();
  await clock.advance(601_000);
  expect(runnable.problem?.()).toBeDefined();
  gate.resolve("onChange");
  await clock.advance(0);
  expect(runnable.problem?.()).toBeUndefined();
});
