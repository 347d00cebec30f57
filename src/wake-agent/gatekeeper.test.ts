// The agent's answers over caches in memory: what a gateway is told in every situation of behaviour §4.5.
import { beforeEach, expect, test } from "vitest";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { MemoryCache } from "../../test/support/memory-cache.ts";
import { silentLogger } from "../kube/logger.ts";
import { Demand } from "./demand.ts";
import { EngineView, indexSlices, Sight } from "./engine-view.ts";
import { Gatekeeper } from "./gatekeeper.ts";
import { EndpointSlice, trimSlice, WatchedEngine } from "./kinds.ts";
import { Reach, type Reached } from "./reach.ts";
import { Stamper } from "./stamper.ts";
import { WaitingRoom } from "./waiting-room.ts";

let clock: ManualClock;
let engines: MemoryCache<WatchedEngine>;
let slices: MemoryCache<EndpointSlice>;
let sights: { engines: Sight; slices: Sight };
let view: EngineView;
let room: WaitingRoom;
let demand: Demand;
let stamped: string[];
let reached: Reached;
let attempts: number;
let capacity: number;
let gatekeeper: Gatekeeper;
const here = new AbortController().signal;

beforeEach(() => {
  clock = new ManualClock();
  engines = new MemoryCache(WatchedEngine);
  slices = new MemoryCache(EndpointSlice, indexSlices.engine);
  sights = { engines: new Sight(), slices: new Sight() };
  view = new EngineView({ namespace: "ns", engines, slices, sights, firstEpoch: 1 });
  view.open();
  room = new WaitingRoom(clock);
  demand = new Demand({ clock, retentionMs: 600_000, parked: (engine) => room.countOf(engine) });
  stamped = [];
  reached = "yes";
  attempts = 0;
  capacity = 10;
  const stamper = new Stamper({
    clock,
    logger: silentLogger,
    waiting: room,
    engine: (name) => view.engine(name),
    write: async (name) => void stamped.push(name),
  });
  stamper.open(new AbortController().signal);
  const attempt = async (): Promise<Reached> => {
    attempts++;
    return reached;
  };
  const reach = new Reach({ clock, logger: silentLogger, view, room, attempt, signal: new AbortController().signal });
  gatekeeper = new Gatekeeper({
    clock,
    view,
    room,
    reach,
    demand,
    stamper,
    capacity: () => capacity,
    holdTimeoutMs: 120_000,
  });
});

const sync = (): void => {
  sights.engines.observer.relisted?.("start" as never);
  sights.slices.observer.relisted?.("start" as never);
};
const putEngine = (name: string, replicas: number, phase = replicas === 0 ? "stopped" : "stable"): void =>
  engines.put({ metadata: { name, namespace: "ns" }, spec: { replicas }, status: { phase, activeGeneration: 0 } });
const putEndpoint = (engine: string, ready: boolean): void =>
  slices.put(
    trimSlice({
      metadata: {
        name: `${engine}-slice`,
        namespace: "ns",
        labels: { "kubernetes.io/service-name": `${engine}-service` },
      },
      endpoints: [{ targetRef: { name: `${engine}-g0-0` }, conditions: { ready } }],
    }),
  );
const hold = (engine = "e", left = here) => gatekeeper.hold(engine, left);

test.each(["", "-e", "e-", "E", "a.b", "x".repeat(64), "e%20"])("the name %j is rejected", async (name) => {
  sync();
  expect(gatekeeper.check(name)).toEqual({ status: 400, decision: "rejected" });
  expect(await hold(name)).toEqual({ status: 400, decision: "rejected" });
});

test("before anything is known everything passes; what is known to be ready is said to be", async () => {
  putEngine("e", 0);
  expect(await hold()).toEqual({ status: 200, decision: "unsynced" });
  sights.slices.observer.relisted?.("start" as never);
  putEndpoint("up", true);
  expect(gatekeeper.check("up")).toEqual({ status: 200, decision: "ready" });
  expect(gatekeeper.check("e")).toEqual({ status: 200, decision: "unsynced" });
  expect(gatekeeper.check("nobody")).toEqual({ status: 200, decision: "unsynced" });
});

test("a name that is no engine: 404 at once, and no trace of it", async () => {
  sync();
  for (let index = 0; index < 10_000; index++)
    expect(await hold(`x${index}`)).toEqual({ status: 404, decision: "unknown" });
  expect(demand.rows()).toEqual([]);
  expect(stamped).toEqual([]);
  expect([room.size, clock.pending]).toEqual([0, 0]);
});

test("ready: at once, and nothing is recorded", async () => {
  putEngine("e", 1);
  putEndpoint("e", true);
  sync();
  expect(gatekeeper.check("e")).toEqual({ status: 200, decision: "ready" });
  expect(await hold()).toEqual({ status: 200, decision: "ready" });
  expect(demand.rows()).toEqual([]);
});

test("stopped: held, stamped, released once the gateway reaches it", async () => {
  putEngine("e", 0);
  sync();
  expect(gatekeeper.check("e")).toEqual({ status: 202, decision: "wait" });
  const answer = hold();
  await clock.advance(5_000);
  expect(stamped).toEqual(["e"]);
  expect(demand.rows()).toMatchObject([{ engine: "e", parked: 1 }]);
  putEngine("e", 1, "creating");
  reached = "not yet";
  putEndpoint("e", true);
  await clock.advance(3_000);
  expect(room.size).toBe(1);
  expect(gatekeeper.check("e")).toEqual({ status: 202, decision: "wait" });
  reached = "yes";
  await clock.advance(200);
  expect(await answer).toEqual({ status: 200, decision: "released" });
  expect(gatekeeper.check("e")).toEqual({ status: 200, decision: "ready" });
  await clock.advance(5_000);
  expect(clock.pending).toBe(0);
});

test("a gateway that cannot be asked, or never reaches it, does not keep a ready engine's requests", async () => {
  putEngine("e", 0);
  sync();
  reached = "cannot ask";
  const first = hold();
  putEngine("e", 1);
  putEndpoint("e", true);
  await clock.advance(0);
  expect((await first).decision).toBe("released");
  putEndpoint("e", false);
  reached = "not yet";
  const second = hold();
  putEndpoint("e", true);
  await clock.advance(14_000);
  expect(room.size).toBe(1);
  await clock.advance(2_000);
  expect((await second).decision).toBe("released");
});

test("not ready in time: 503 after the hold; capacity used up: 503 at once, with the demand recorded", async () => {
  putEngine("e", 0);
  sync();
  capacity = 1;
  const first = hold();
  expect(await hold()).toEqual({ status: 503, decision: "shed", retryAfterSeconds: 5 });
  expect(demand.rows()).toMatchObject([{ engine: "e", parked: 1, shed: 1 }]);
  await clock.advance(120_000);
  expect(await first).toEqual({ status: 503, decision: "timeout", retryAfterSeconds: 10 });
});

test("no room at all, but the engine is up: it passes, and the next one knows", async () => {
  putEngine("e", 0);
  sync();
  capacity = 0;
  expect((await hold()).decision).toBe("shed");
  putEngine("e", 1);
  putEndpoint("e", true);
  expect(await hold()).toEqual({ status: 200, decision: "unsynced" });
  await clock.advance(0);
  expect(attempts).toBe(1);
  expect(gatekeeper.check("e")).toEqual({ status: 200, decision: "ready" });
});

test("a client that leaves takes nobody along", async () => {
  putEngine("e", 0);
  sync();
  const left = new AbortController();
  const gone = hold("e", left.signal);
  const staying = hold();
  left.abort();
  await gone;
  expect(room.countOf("e")).toBe(1);
  putEngine("e", 1);
  putEndpoint("e", true);
  await clock.advance(0);
  expect((await staying).decision).toBe("released");
});

test("an engine that is deleted: 404 for those who wait", async () => {
  putEngine("e", 0);
  sync();
  const answer = hold();
  engines.remove({ namespace: "ns", name: "e" });
  expect(await answer).toEqual({ status: 404, decision: "unknown" });
});

test("with a broken watch an engine that the gateway reaches is let go", async () => {
  putEngine("e", 0);
  sync();
  const answer = hold();
  reached = "not yet";
  sights.slices.observer.failed?.(new Error("cut off"));
  await clock.advance(10_000);
  expect(room.size).toBe(1);
  reached = "yes";
  await clock.advance(2_000);
  expect(await answer).toEqual({ status: 200, decision: "released" });
});

test("released into an engine that is about to stop: nobody may remember it", async () => {
  putEngine("e", 0);
  sync();
  const answer = hold();
  putEndpoint("e", true);
  await clock.advance(0);
  expect(await answer).toEqual({ status: 200, decision: "leaving" });
});

test("the epoch grows whenever an engine stops being sure, and only then", async () => {
  putEngine("e", 1);
  putEndpoint("e", true);
  sync();
  const before = view.epoch;
  let grown = false;
  void view.epochAbove(before, here).then(() => {
    grown = true;
  });
  putEngine("other", 0);
  putEndpoint("other", true);
  await clock.advance(0);
  expect([view.epoch, grown]).toEqual([before, false]);
  putEngine("e", 0, "stable");
  await clock.advance(0);
  expect(view.epoch).toBe(before + 1);
  expect(grown).toBe(true);
  // Served, but nobody may remember it.
  expect(gatekeeper.check("e")).toEqual({ status: 200, decision: "leaving" });
  putEngine("e", 0, "switching");
  expect(gatekeeper.check("e").decision).toBe("wait");
});
