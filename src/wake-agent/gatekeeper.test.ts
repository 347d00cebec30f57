// The agent's answers over caches in memory: what a gateway is told in every situation (docs/design/auto-stop.md#holding-queries).
import { KubeApiError, silentLogger } from "@firebolt-operator/kube";
import { ManualClock, MemoryCache } from "@firebolt-operator/kube/testing";
import { beforeEach, expect, test } from "vitest";
import { Absence } from "./absence.ts";
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
/** Why wake requests are not written; undefined: they are. */
let refusal: Error | undefined;
let reached: Reached;
let attempts: number;
let capacity: number;
/** What the API server has, asked directly; "unreachable": it does not respond. */
let stored: Set<string> | "unreachable";
let confirmations: string[];
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
  refusal = undefined;
  reached = "yes";
  attempts = 0;
  capacity = 10;
  const stamper = new Stamper({
    clock,
    logger: silentLogger,
    waiting: room,
    engine: (name) => view.engine(name),
    write: async (name) => {
      if (refusal !== undefined) throw refusal;
      stamped.push(name);
    },
  });
  stamper.open(new AbortController().signal);
  const attempt = async (): Promise<Reached> => {
    attempts++;
    return reached;
  };
  const reach = new Reach({ clock, logger: silentLogger, view, room, attempt, signal: new AbortController().signal });
  stored = new Set();
  confirmations = [];
  const absence = new Absence({
    clock,
    logger: silentLogger,
    signal: here,
    progress: () => view.progress,
    exists: async (name) => {
      confirmations.push(name);
      if (stored === "unreachable") throw new Error("no response within 1 s");
      return stored.has(name);
    },
  });
  gatekeeper = new Gatekeeper({
    view,
    absence,
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
  expect(await gatekeeper.check(name)).toEqual({ status: 400, decision: "rejected" });
  expect(await hold(name)).toEqual({ status: 400, decision: "rejected" });
});

test("before anything is known everything passes; what is known to be ready is said to be", async () => {
  putEngine("e", 0);
  expect(await hold()).toEqual({ status: 200, decision: "unsynced" });
  sights.slices.observer.relisted?.("start" as never);
  putEndpoint("up", true);
  expect(await gatekeeper.check("up")).toEqual({ status: 200, decision: "ready" });
  expect(await gatekeeper.check("e")).toEqual({ status: 200, decision: "unsynced" });
  expect(await gatekeeper.check("nobody")).toEqual({ status: 200, decision: "unsynced" });
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
  expect(await gatekeeper.check("e")).toEqual({ status: 200, decision: "ready" });
  expect(await hold()).toEqual({ status: 200, decision: "ready" });
  expect(demand.rows()).toEqual([]);
});

test("stopped: held, stamped, released once the gateway reaches it", async () => {
  putEngine("e", 0);
  sync();
  expect(await gatekeeper.check("e")).toEqual({ status: 202, decision: "wait" });
  const answer = hold();
  await clock.advance(5_000);
  expect(stamped).toEqual(["e"]);
  expect(demand.rows()).toMatchObject([{ engine: "e", holds: 1 }]);
  putEngine("e", 1, "creating");
  reached = "not yet";
  putEndpoint("e", true);
  await clock.advance(3_000);
  expect(room.size).toBe(1);
  expect(await gatekeeper.check("e")).toEqual({ status: 202, decision: "wait" });
  reached = "yes";
  await clock.advance(200);
  expect(await answer).toEqual({ status: 200, decision: "released" });
  expect(await gatekeeper.check("e")).toEqual({ status: 200, decision: "ready" });
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
  expect(demand.rows()).toMatchObject([{ engine: "e", holds: 1, shed: 1 }]);
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
  expect(await gatekeeper.check("e")).toEqual({ status: 200, decision: "ready" });
});

test.each([401, 403])(
  "a wake request that is rejected with %d is tried again with every tick of the hold",
  async (status) => {
    sync();
    putEngine("e", 0);
    refusal = new KubeApiError("PATCH /e", status, {});
    const held = hold();
    await clock.advance(30_000);
    expect(stamped).toEqual([]);
    // The token has been replaced, or the right is back.
    refusal = undefined;
    await clock.advance(1_000);
    expect(stamped).toEqual(["e"]);
    putEngine("e", 1);
    putEndpoint("e", true);
    expect(await held).toEqual({ status: 200, decision: "released" });
  },
);

test("rejected until the hold is over, or until the gateway ends: the reason is told", async () => {
  sync();
  putEngine("e", 0);
  refusal = new KubeApiError("PATCH /e", 401, {});
  const held = hold();
  await clock.advance(120_000);
  expect(await held).toEqual({ status: 503, decision: "denied", retryAfterSeconds: 10 });
  const cut = hold();
  await clock.advance(1_000);
  room.releaseAll("closing");
  expect(await cut).toEqual({ status: 503, decision: "denied", retryAfterSeconds: 10 });
});

test("a wake request that fails for another reason, or that another gateway has made, is not called rejected", async () => {
  sync();
  putEngine("e", 0);
  refusal = new Error("cut off");
  const held = hold();
  await clock.advance(120_000);
  expect(await held).toEqual({ status: 503, decision: "timeout", retryAfterSeconds: 10 });
  refusal = new KubeApiError("PATCH /e", 403, {});
  const second = hold();
  await clock.advance(1_000);
  const annotations = { "firebolt.io/wake-requested": new Date(clock.now()).toISOString() };
  engines.put({
    metadata: { name: "e", namespace: "ns", annotations },
    spec: { replicas: 0 },
    status: { phase: "stopped", activeGeneration: 0 },
  });
  await clock.advance(2_000);
  room.releaseAll("closing");
  expect(await second).toEqual({ status: 503, decision: "timeout", retryAfterSeconds: 10 });
});

test.each([
  { name: "its endpoints (the StatefulSet was deleted or scaled to zero)", lose: () => putEndpoint("e", false) },
  {
    name: "its Service",
    lose: () => slices.remove({ namespace: "ns", name: "e-slice" }),
  },
])("an engine that should run and has lost $name is held until the operator has restored it", async ({ lose }) => {
  putEngine("e", 1);
  putEndpoint("e", true);
  sync();
  expect(await gatekeeper.check("e")).toEqual({ status: 200, decision: "ready" });
  lose();
  expect(await gatekeeper.check("e")).toEqual({ status: 202, decision: "wait" });
  const held = hold();
  await clock.advance(100_000);
  putEndpoint("e", true);
  expect(await held).toEqual({ status: 200, decision: "released" });
  expect(stamped).toEqual([]);
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

const UNSYNCED = { status: 200, decision: "unsynced" };
const UNKNOWN = { status: 404, decision: "unknown" };

test.each(["engines", "slices"] as const)(
  "while the watch of %s is broken no name is unknown; once it is back, names are again",
  async (watch) => {
    sync();
    expect(await gatekeeper.check("new")).toEqual(UNKNOWN);
    sights[watch].observer.failed?.(new Error("forbidden"));
    // Created meanwhile, and serving: the agent is told of neither.
    expect(await gatekeeper.check("new")).toEqual(UNSYNCED);
    expect(await hold("new")).toEqual(UNSYNCED);
    expect(confirmations).toEqual(["new"]);
    putEngine("new", 1);
    putEndpoint("new", true);
    sights[watch].observer.event?.("put");
    expect((await gatekeeper.check("new")).decision).not.toBe("unknown");
    expect(await gatekeeper.check("never-created")).toEqual(UNKNOWN);
    expect(await hold("never-created")).toEqual(UNKNOWN);
  },
);

test("a watch that has stalled unnoticed: an engine that the API server has is let pass, and so is any name it cannot confirm", async () => {
  sync();
  stored = new Set(["new"]);
  expect(await gatekeeper.check("new")).toEqual(UNSYNCED);
  expect(await hold("new")).toEqual(UNSYNCED);
  expect(await gatekeeper.check("never-created")).toEqual(UNKNOWN);
  stored = "unreachable";
  await clock.advance(2_000);
  expect(await gatekeeper.check("never-created")).toEqual(UNSYNCED);
  // Not asked again at once: a query must not wait for an API server that does not respond.
  expect(await gatekeeper.check("another")).toEqual(UNSYNCED);
  expect(confirmations).toEqual(["new", "never-created", "never-created"]);
  stored = new Set();
  await clock.advance(2_000);
  expect(await gatekeeper.check("never-created")).toEqual(UNKNOWN);
});

test("an engine that the watch reports while its absence is being confirmed is judged by the watch", async () => {
  sync();
  const [checked, held] = [gatekeeper.check("e"), hold()];
  putEngine("e", 0);
  expect(await checked).toEqual({ status: 202, decision: "wait" });
  await clock.advance(0);
  expect(room.countOf("e")).toBe(1);
  room.releaseAll("closing");
  await held;
});

test("made-up names cost the API server ten requests in two seconds, however many they are", async () => {
  sync();
  for (let index = 0; index < 1_000; index++) await gatekeeper.check(`x${index}`);
  expect(confirmations).toHaveLength(10);
  await clock.advance(2_000);
  for (let index = 0; index < 1_000; index++) await gatekeeper.check(`x${index}`);
  expect(confirmations).toHaveLength(20);
});

test("a watch that has stalled unnoticed: of twenty engines that the API server has, none is unknown", async () => {
  sync();
  const names = Array.from({ length: 20 }, (_, index) => `real-${index}`);
  stored = new Set(names);
  for (const name of names) expect(await gatekeeper.check(name)).toEqual(UNSYNCED);
  expect(await Promise.all(names.map((name) => hold(name)))).toEqual(names.map(() => UNSYNCED));
  expect(confirmations).toHaveLength(10);
});

test("a flood for one engine takes every place that is free, and no place that another engine needs", async () => {
  putEngine("flooded", 0);
  putEngine("quiet", 0);
  sync();
  const flood = Array.from({ length: 50 }, () => hold("flooded"));
  expect(room.countOf("flooded")).toBe(10);
  const waiting = hold("quiet");
  expect([room.countOf("flooded"), room.countOf("quiet")]).toEqual([9, 1]);
  expect(await hold("flooded")).toEqual({ status: 503, decision: "shed", retryAfterSeconds: 5 });
  putEngine("quiet", 1);
  putEndpoint("quiet", true);
  await clock.advance(0);
  expect(await waiting).toEqual({ status: 200, decision: "released" });
  // The one that gave its place up is counted as shed like the forty that got none.
  expect(demand.rows().find(({ engine }) => engine === "flooded")).toMatchObject({ holds: 9, shed: 42 });
  room.releaseAll("closing");
  const decisions = (await Promise.all(flood)).map(({ decision }) => decision);
  expect(decisions.filter((decision) => decision === "shed")).toHaveLength(41);
});

test("a request that gives its place up although its engine is up passes", async () => {
  putEngine("a", 0);
  putEngine("b", 0);
  sync();
  capacity = 2;
  reached = "not yet";
  const [first, second] = [hold("a"), hold("a")];
  putEngine("a", 1);
  putEndpoint("a", true);
  void hold("b");
  expect(await second).toEqual(UNSYNCED);
  expect(room.countOf("a")).toBe(1);
  room.releaseAll("closing");
  await first;
});

test("four engines that do not start leave a place for a fifth", async () => {
  for (const name of ["a", "b", "c", "d", "e"]) putEngine(name, 0);
  sync();
  capacity = 8;
  for (const name of ["a", "b", "c", "d"]) for (let count = 0; count < 8; count++) void hold(name);
  expect(["a", "b", "c", "d"].map((name) => room.countOf(name))).toEqual([2, 2, 2, 2]);
  void hold();
  expect(room.countOf("e")).toBe(1);
  expect(room.size).toBe(8);
  room.releaseAll("closing");
});

test("capacity that has shrunk below what is held: the queue does not grow, and still has a place for an engine that has fewer", async () => {
  putEngine("a", 0);
  putEngine("b", 0);
  sync();
  const held = Array.from({ length: 4 }, () => hold("a"));
  capacity = 2;
  expect((await hold("a")).decision).toBe("shed");
  const waiting = hold("b");
  expect((await held[3])?.decision).toBe("shed");
  expect([room.countOf("a"), room.countOf("b")]).toEqual([3, 1]);
  putEngine("b", 1);
  putEndpoint("b", true);
  await clock.advance(0);
  expect(await waiting).toEqual({ status: 200, decision: "released" });
  room.releaseAll("closing");
});

test("an engine that no query can start is held for five seconds, unless it is started meanwhile", async () => {
  const putOff = (replicas: number): void =>
    engines.put({
      metadata: { name: "off", namespace: "ns" },
      spec: { replicas },
      status: { phase: "stopped", activeGeneration: 0, autoStopReason: "Disabled" },
    });
  putOff(0);
  putEngine("e", 0);
  sync();
  const [first, other] = [hold("off"), hold()];
  await clock.advance(4_999);
  expect(room.countOf("off")).toBe(1);
  await clock.advance(1);
  expect(await first).toEqual({ status: 503, decision: "stopped", retryAfterSeconds: 10 });
  expect(room.countOf("e")).toBe(1);
  const second = hold("off");
  await clock.advance(1_000);
  putOff(1);
  await clock.advance(30_000);
  expect(room.countOf("off")).toBe(1);
  putEndpoint("off", true);
  await clock.advance(0);
  expect(await second).toEqual({ status: 200, decision: "released" });
  room.releaseAll("closing");
  await other;
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
  expect(await gatekeeper.check("e")).toEqual({ status: 200, decision: "leaving" });
  putEngine("e", 0, "switching");
  expect((await gatekeeper.check("e")).decision).toBe("wait");
});
