import { silentLogger } from "@firebolt-operator/kube";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { beforeEach, expect, test } from "vitest";
import type { WatchedEngine } from "./kinds.ts";
import { RESTAMP_MS, Stamper } from "./stamper.ts";
import { WaitingRoom } from "./waiting-room.ts";

let clock: ManualClock;
let room: WaitingRoom;
let engines: Map<string, WatchedEngine>;
let written: string[];
let answer: () => Promise<void>;
let errors: number;
let stamper: Stamper;
let stop: AbortController;

const stopped = (stamp?: string): WatchedEngine => ({
  metadata: stamp === undefined ? {} : { annotations: { "firebolt.io/wake-requested": stamp } },
  spec: { replicas: 0 },
});
const wait = (engine: string): AbortController => {
  const left = new AbortController();
  void room.wait({ engine, patienceMs: (waitedMs) => 120_000 - waitedMs, left: left.signal });
  return left;
};

beforeEach(() => {
  clock = new ManualClock();
  room = new WaitingRoom(clock);
  engines = new Map([["e", stopped()]]);
  written = [];
  errors = 0;
  answer = () => Promise.resolve();
  stop = new AbortController();
  stamper = new Stamper({
    clock,
    waiting: room,
    logger: { ...silentLogger, error: () => void errors++ },
    engine: (name) => engines.get(name),
    write: async (engine, time) => {
      await answer();
      written.push(`${engine} ${time}`);
    },
  });
  stamper.open(stop.signal);
});

test("500 requests at once are one stamp, and one more per interval while they wait", async () => {
  for (let count = 0; count < 500; count++) {
    wait("e");
    stamper.want("e");
  }
  await clock.advance(0);
  expect(written).toEqual(["e 2026-01-01T00:00:00Z"]);
  await clock.advance(RESTAMP_MS - 1);
  expect(written).toHaveLength(1);
  await clock.advance(2_000);
  expect(written).toHaveLength(2);
  room.release("e", "released");
  await clock.advance(10 * RESTAMP_MS);
  expect(written).toHaveLength(2);
  expect(clock.pending).toBe(0);
});

test("names that are no engines, engines that run and engines without auto-stop are not written to", async () => {
  engines.set("running", { spec: { replicas: 2 } });
  engines.set("off", { spec: { replicas: 0 }, status: { activeGeneration: 0, autoStopReason: "Disabled" } });
  for (const name of ["nobody", "running", "off"]) stamper.want(name);
  await clock.advance(120_000);
  expect(written).toEqual([]);
  expect(clock.pending).toBe(0);
});

test("an engine that is stopped while somebody waits is stamped as soon as that is seen", async () => {
  engines.set("e", { spec: { replicas: 1 } });
  wait("e");
  stamper.want("e");
  await clock.advance(3_000);
  expect(written).toEqual([]);
  engines.set("e", stopped());
  stamper.consider("e");
  await clock.advance(0);
  expect(written).toHaveLength(1);
});

test("another gateway's stamp is as good; one that lies ahead is not", async () => {
  engines.set("e", stopped("2025-12-31T23:59:55Z"));
  wait("e");
  stamper.want("e");
  await clock.advance(4_000);
  expect(written).toEqual([]);
  await clock.advance(2_000);
  expect(written).toHaveLength(1);
  engines.set("ahead", stopped("2026-01-01T01:00:00Z"));
  stamper.want("ahead");
  await clock.advance(0);
  expect(written).toHaveLength(2);
});

test("client-leaves-while-held, shed-demand-still-wakes: a stamp that fails is tried again although nobody waits any more, and complained about once a minute", async () => {
  answer = () => Promise.reject(new Error("cut off"));
  stamper.want("e");
  await clock.advance(30_000);
  expect(written).toEqual([]);
  expect(errors).toBe(1);
  expect(stamper.failures).toBeGreaterThan(20);
  answer = () => Promise.resolve();
  await clock.advance(1_000);
  expect(written).toHaveLength(1);
  await clock.advance(120_000);
  expect(written).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test("a request that could not be stamped for a minute is given up once nobody waits", async () => {
  answer = () => Promise.reject(new Error("cut off"));
  stamper.want("e");
  await clock.advance(120_000);
  answer = () => Promise.resolve();
  await clock.advance(120_000);
  expect(written).toEqual([]);
  expect(clock.pending).toBe(0);
});

test("nothing is written after the end", async () => {
  wait("e");
  stop.abort();
  stamper.want("e");
  await clock.advance(60_000);
  expect(written).toEqual([]);
});

test("a stamp that the engine was scaled after is made again at once, with a time after the scaling", async () => {
  const scaled = (stamp: string, lastScaledAt: string): WatchedEngine => ({
    ...stopped(stamp),
    status: { activeGeneration: 0, lastScaledAt },
  });
  // Stamped by another gateway a moment ago, and the engine has been woken and stopped since.
  engines.set("e", scaled("2025-12-31T23:59:58Z", "2026-01-01T00:00:00Z"));
  wait("e");
  stamper.want("e");
  await clock.advance(0);
  expect(written).toEqual(["e 2026-01-01T00:00:01Z"]);
  // The operator's clock is 40 s ahead of this node's.
  engines.set("e", scaled("2026-01-01T00:00:01Z", "2026-01-01T00:00:40Z"));
  stamper.consider("e");
  await clock.advance(0);
  expect(written).toEqual(["e 2026-01-01T00:00:01Z", "e 2026-01-01T00:00:41Z"]);
  // That one counts, and is not written again every second.
  engines.set("e", scaled("2026-01-01T00:00:41Z", "2026-01-01T00:00:40Z"));
  await clock.advance(30_000);
  expect(written).toHaveLength(2);
});

test("a stamp that cannot be read is written over", async () => {
  for (const garbage of ["", "yes", "9999-12-31T00:00:00Z"]) {
    written.length = 0;
    engines.set("e", stopped(garbage));
    stamper.want("e");
    await clock.advance(0);
    expect(written).toHaveLength(1);
    await clock.advance(2 * RESTAMP_MS);
  }
});
