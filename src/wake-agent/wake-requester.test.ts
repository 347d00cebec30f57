import { silentLogger } from "@firebolt-operator/kube";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { beforeEach, expect, test } from "vitest";
import { HoldQueue } from "./hold/queue.ts";
import type { WatchedEngine } from "./kinds.ts";
import { REPEAT_MS, WakeRequester } from "./wake-requester.ts";

let clock: ManualClock;
let queue: HoldQueue;
let engines: Map<string, WatchedEngine>;
let written: string[];
let answer: () => Promise<void>;
let errors: number;
let wakeRequester: WakeRequester;
let stop: AbortController;

const stopped = (stamp?: string): WatchedEngine => ({
  metadata: stamp === undefined ? {} : { annotations: { "firebolt.io/wake-requested": stamp } },
  spec: { replicas: 0 },
});
const wait = (engine: string): AbortController => {
  const disconnected = new AbortController();
  void queue.wait({ engine, patienceMs: (waitedMs) => 120_000 - waitedMs, disconnected: disconnected.signal });
  return disconnected;
};

beforeEach(() => {
  clock = new ManualClock();
  queue = new HoldQueue(clock);
  engines = new Map([["e", stopped()]]);
  written = [];
  errors = 0;
  answer = () => Promise.resolve();
  stop = new AbortController();
  wakeRequester = new WakeRequester({
    clock,
    waiting: queue,
    logger: { ...silentLogger, error: () => void errors++ },
    engine: (name) => engines.get(name),
    write: async (engine, time) => {
      await answer();
      written.push(`${engine} ${time}`);
    },
  });
  wakeRequester.open(stop.signal);
});

test("500 requests at once cause one wake request, and one more per interval while they wait", async () => {
  for (let count = 0; count < 500; count++) {
    wait("e");
    wakeRequester.request("e");
  }
  await clock.advance(0);
  expect(written).toEqual(["e 2026-01-01T00:00:00Z"]);
  await clock.advance(REPEAT_MS - 1);
  expect(written).toHaveLength(1);
  await clock.advance(2_000);
  expect(written).toHaveLength(2);
  queue.release("e", "released");
  await clock.advance(10 * REPEAT_MS);
  expect(written).toHaveLength(2);
  expect(clock.pending).toBe(0);
});

test("no wake request is written for names that are no engines, for engines that run, or for engines without auto-stop", async () => {
  engines.set("running", { spec: { replicas: 2 } });
  engines.set("off", { spec: { replicas: 0 }, status: { activeGeneration: 0, autoStopReason: "Disabled" } });
  for (const name of ["nobody", "running", "off"]) wakeRequester.request(name);
  await clock.advance(120_000);
  expect(written).toEqual([]);
  expect(clock.pending).toBe(0);
});

test("an engine that stops while requests wait is woken as soon as the watch shows it", async () => {
  engines.set("e", { spec: { replicas: 1 } });
  wait("e");
  wakeRequester.request("e");
  await clock.advance(3_000);
  expect(written).toEqual([]);
  engines.set("e", stopped());
  wakeRequester.requestIfDue("e");
  await clock.advance(0);
  expect(written).toHaveLength(1);
});

test("another gateway's wake request counts; one with a time in the future does not", async () => {
  engines.set("e", stopped("2025-12-31T23:59:55Z"));
  wait("e");
  wakeRequester.request("e");
  await clock.advance(4_000);
  expect(written).toEqual([]);
  await clock.advance(2_000);
  expect(written).toHaveLength(1);
  engines.set("ahead", stopped("2026-01-01T01:00:00Z"));
  wakeRequester.request("ahead");
  await clock.advance(0);
  expect(written).toHaveLength(2);
});

test("client-leaves-while-held, shed-demand-still-wakes: a wake request that fails is retried although no request waits any more, and logged once a minute", async () => {
  answer = () => Promise.reject(new Error("cut off"));
  wakeRequester.request("e");
  await clock.advance(30_000);
  expect(written).toEqual([]);
  expect(errors).toBe(1);
  expect(wakeRequester.failures).toBeGreaterThan(20);
  answer = () => Promise.resolve();
  await clock.advance(1_000);
  expect(written).toHaveLength(1);
  await clock.advance(120_000);
  expect(written).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test("a wake request that could not be written for a minute is dropped once no request waits", async () => {
  answer = () => Promise.reject(new Error("cut off"));
  wakeRequester.request("e");
  await clock.advance(120_000);
  answer = () => Promise.resolve();
  await clock.advance(120_000);
  expect(written).toEqual([]);
  expect(clock.pending).toBe(0);
});

test("nothing is written after shutdown", async () => {
  wait("e");
  stop.abort();
  wakeRequester.request("e");
  await clock.advance(60_000);
  expect(written).toEqual([]);
});

test("a wake request that is older than the last scaling is repeated at once, with a time after the scaling", async () => {
  const scaled = (stamp: string, lastScaledAt: string): WatchedEngine => ({
    ...stopped(stamp),
    status: { activeGeneration: 0, lastScaledAt },
  });
  // Requested by another gateway a moment ago, and the engine has been woken and stopped since.
  engines.set("e", scaled("2025-12-31T23:59:58Z", "2026-01-01T00:00:00Z"));
  wait("e");
  wakeRequester.request("e");
  await clock.advance(0);
  expect(written).toEqual(["e 2026-01-01T00:00:01Z"]);
  // The operator's clock is 40 s ahead of this node's.
  engines.set("e", scaled("2026-01-01T00:00:01Z", "2026-01-01T00:00:40Z"));
  wakeRequester.requestIfDue("e");
  await clock.advance(0);
  expect(written).toEqual(["e 2026-01-01T00:00:01Z", "e 2026-01-01T00:00:41Z"]);
  // That one counts, and is not written again every second.
  engines.set("e", scaled("2026-01-01T00:00:41Z", "2026-01-01T00:00:40Z"));
  await clock.advance(30_000);
  expect(written).toHaveLength(2);
});

test("a wake request that cannot be parsed is overwritten", async () => {
  for (const garbage of ["", "yes", "9999-12-31T00:00:00Z"]) {
    written.length = 0;
    engines.set("e", stopped(garbage));
    wakeRequester.request("e");
    await clock.advance(0);
    expect(written).toHaveLength(1);
    await clock.advance(2 * REPEAT_MS);
  }
});
