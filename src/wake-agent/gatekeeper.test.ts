// Admission over caches in memory: the response in every situation (docs/design/auto-stop.md#holding-queries).
import { KubeApiError, silentLogger } from "@firebolt-operator/kube";
import { ManualClock, MemoryCache } from "@firebolt-operator/kube/testing";
import { beforeEach, expect, test } from "vitest";
import { AbsenceCheck } from "./absence.ts";
import { Demand } from "./demand.ts";
import { EngineView, indexSlices, WatchHealth } from "./engine-view.ts";
import { HoldAdmission } from "./gatekeeper.ts";
import { EndpointSlice, trimSlice, WatchedEngine } from "./kinds.ts";
import { ReachabilityProbe, type Reached } from "./reach.ts";
import { WakeRequester } from "./stamper.ts";
import { HoldQueue } from "./waiting-room.ts";

let clock: ManualClock;
let engines: MemoryCache<WatchedEngine>;
let slices: MemoryCache<EndpointSlice>;
let watchHealth: { engines: WatchHealth; slices: WatchHealth };
let view: EngineView;
let queue: HoldQueue;
let demand: Demand;
let requested: string[];
/** Why wake requests are not written; undefined: they are. */
let refusal: Error | undefined;
let reached: Reached;
let attempts: number;
let capacity: number;
/** The engines of the API server when it is read directly; "unreachable": it does not respond. */
let stored: Set<string> | "unreachable";
let confirmations: string[];
let admission: HoldAdmission;
const here = new AbortController().signal;

beforeEach(() => {
  clock = new ManualClock();
  engines = new MemoryCache(WatchedEngine);
  slices = new MemoryCache(EndpointSlice, indexSlices.engine);
  watchHealth = { engines: new WatchHealth(), slices: new WatchHealth() };
  view = new EngineView({ namespace: "ns", engines, slices, watchHealth, firstEpoch: 1 });
  view.open();
  queue = new HoldQueue(clock);
  demand = new Demand({ clock, retentionMs: 600_000, parked: (engine) => queue.countOf(engine) });
  requested = [];
  refusal = undefined;
  reached = "yes";
  attempts = 0;
  capacity = 10;
  const wakeRequester = new WakeRequester({
    clock,
    logger: silentLogger,
    waiting: queue,
    engine: (name) => view.engine(name),
    write: async (name) => {
      if (refusal !== undefined) throw refusal;
      requested.push(name);
    },
  });
  wakeRequester.open(new AbortController().signal);
  const attempt = async (): Promise<Reached> => {
    attempts++;
    return reached;
  };
  const probe = new ReachabilityProbe({
    clock,
    logger: silentLogger,
    view,
    queue,
    attempt,
    signal: new AbortController().signal,
  });
  stored = new Set();
  confirmations = [];
  const absence = new AbsenceCheck({
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
  admission = new HoldAdmission({
    view,
    absence,
    queue,
    probe,
    demand,
    wakeRequester,
    capacity: () => capacity,
    holdTimeoutMs: 120_000,
  });
});

const sync = (): void => {
  watchHealth.engines.observer.relisted?.("start" as never);
  watchHealth.slices.observer.relisted?.("start" as never);
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
const hold = (engine = "e", disconnected = here) => admission.hold(engine, disconnected);

test.each(["", "-e", "e-", "E", "a.b", "x".repeat(64), "e%20"])("the name %j is rejected", async (name) => {
  sync();
  expect(await admission.check(name)).toEqual({ status: 400, decision: "rejected" });
  expect(await hold(name)).toEqual({ status: 400, decision: "rejected" });
});

test("before the watches have synced every query passes; engines known to be ready are reported as ready", async () => {
  putEngine("e", 0);
  expect(await hold()).toEqual({ status: 200, decision: "unsynced" });
  watchHealth.slices.observer.relisted?.("start" as never);
  putEndpoint("up", true);
  expect(await admission.check("up")).toEqual({ status: 200, decision: "ready" });
  expect(await admission.check("e")).toEqual({ status: 200, decision: "unsynced" });
  expect(await admission.check("nobody")).toEqual({ status: 200, decision: "unsynced" });
});

test("a name that is no engine: 404 at once, and nothing is recorded", async () => {
  sync();
  for (let index = 0; index < 10_000; index++)
    expect(await hold(`x${index}`)).toEqual({ status: 404, decision: "unknown" });
  expect(demand.rows()).toEqual([]);
  expect(requested).toEqual([]);
  expect([queue.size, clock.pending]).toEqual([0, 0]);
});

test("ready: at once, and nothing is recorded", async () => {
  putEngine("e", 1);
  putEndpoint("e", true);
  sync();
  expect(await admission.check("e")).toEqual({ status: 200, decision: "ready" });
  expect(await hold()).toEqual({ status: 200, decision: "ready" });
  expect(demand.rows()).toEqual([]);
});

test("stopped: held, wake requested, released once the gateway reaches it", async () => {
  putEngine("e", 0);
  sync();
  expect(await admission.check("e")).toEqual({ status: 202, decision: "wait" });
  const answer = hold();
  await clock.advance(5_000);
  expect(requested).toEqual(["e"]);
  expect(demand.rows()).toMatchObject([{ engine: "e", parked: 1 }]);
  putEngine("e", 1, "creating");
  reached = "not yet";
  putEndpoint("e", true);
  await clock.advance(3_000);
  expect(queue.size).toBe(1);
  expect(await admission.check("e")).toEqual({ status: 202, decision: "wait" });
  reached = "yes";
  await clock.advance(200);
  expect(await answer).toEqual({ status: 200, decision: "released" });
  expect(await admission.check("e")).toEqual({ status: 200, decision: "ready" });
  await clock.advance(5_000);
  expect(clock.pending).toBe(0);
});

test("a gateway that cannot be probed, or never reaches it, does not hold back a ready engine's requests", async () => {
  putEngine("e", 0);
  sync();
  reached = "unavailable";
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
  expect(queue.size).toBe(1);
  await clock.advance(2_000);
  expect((await second).decision).toBe("released");
});

test("not ready in time: 503 after the hold; queue full: 503 at once, with the demand recorded", async () => {
  putEngine("e", 0);
  sync();
  capacity = 1;
  const first = hold();
  expect(await hold()).toEqual({ status: 503, decision: "shed", retryAfterSeconds: 5 });
  expect(demand.rows()).toMatchObject([{ engine: "e", parked: 1, shed: 1 }]);
  await clock.advance(120_000);
  expect(await first).toEqual({ status: 503, decision: "timeout", retryAfterSeconds: 10 });
});

test("queue full, but the engine is up: the query passes, and the probe confirms it for the next one", async () => {
  putEngine("e", 0);
  sync();
  capacity = 0;
  expect((await hold()).decision).toBe("shed");
  putEngine("e", 1);
  putEndpoint("e", true);
  expect(await hold()).toEqual({ status: 200, decision: "unsynced" });
  await clock.advance(0);
  expect(attempts).toBe(1);
  expect(await admission.check("e")).toEqual({ status: 200, decision: "ready" });
});

test.each([401, 403])(
  "a wake request that is rejected with %d is retried with every tick of the hold",
  async (status) => {
    sync();
    putEngine("e", 0);
    refusal = new KubeApiError("PATCH /e", status, {});
    const held = hold();
    await clock.advance(30_000);
    expect(requested).toEqual([]);
    // The token has been replaced, or the right is back.
    refusal = undefined;
    await clock.advance(1_000);
    expect(requested).toEqual(["e"]);
    putEngine("e", 1);
    putEndpoint("e", true);
    expect(await held).toEqual({ status: 200, decision: "released" });
  },
);

test("rejected until the hold times out, or until the gateway terminates: the response has the reason", async () => {
  sync();
  putEngine("e", 0);
  refusal = new KubeApiError("PATCH /e", 401, {});
  const held = hold();
  await clock.advance(120_000);
  expect(await held).toEqual({ status: 503, decision: "denied", retryAfterSeconds: 10 });
  const cut = hold();
  await clock.advance(1_000);
  queue.releaseAll("shutdown");
  expect(await cut).toEqual({ status: 503, decision: "denied", retryAfterSeconds: 10 });
});

test("a wake request that fails for another reason, or that another gateway has made, is not reported as denied", async () => {
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
  queue.releaseAll("shutdown");
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
  expect(await admission.check("e")).toEqual({ status: 200, decision: "ready" });
  lose();
  expect(await admission.check("e")).toEqual({ status: 202, decision: "wait" });
  const held = hold();
  await clock.advance(100_000);
  putEndpoint("e", true);
  expect(await held).toEqual({ status: 200, decision: "released" });
  expect(requested).toEqual([]);
});

test("a client that disconnects affects no other", async () => {
  putEngine("e", 0);
  sync();
  const disconnected = new AbortController();
  const gone = hold("e", disconnected.signal);
  const staying = hold();
  disconnected.abort();
  await gone;
  expect(queue.countOf("e")).toBe(1);
  putEngine("e", 1);
  putEndpoint("e", true);
  await clock.advance(0);
  expect((await staying).decision).toBe("released");
});

test("an engine that is deleted: 404 for the requests that wait", async () => {
  putEngine("e", 0);
  sync();
  const answer = hold();
  engines.remove({ namespace: "ns", name: "e" });
  expect(await answer).toEqual({ status: 404, decision: "unknown" });
});

const UNSYNCED = { status: 200, decision: "unsynced" };
const UNKNOWN = { status: 404, decision: "unknown" };

test.each(["engines", "slices"] as const)(
  "while the watch of %s is broken no name is reported as unknown; once it works again, names are",
  async (watch) => {
    sync();
    expect(await admission.check("new")).toEqual(UNKNOWN);
    watchHealth[watch].observer.failed?.(new Error("forbidden"));
    // Created meanwhile, and serving: the agent gets no event of either.
    expect(await admission.check("new")).toEqual(UNSYNCED);
    expect(await hold("new")).toEqual(UNSYNCED);
    expect(confirmations).toEqual(["new"]);
    putEngine("new", 1);
    putEndpoint("new", true);
    watchHealth[watch].observer.event?.("put");
    expect((await admission.check("new")).decision).not.toBe("unknown");
    expect(await admission.check("never-created")).toEqual(UNKNOWN);
    expect(await hold("never-created")).toEqual(UNKNOWN);
  },
);

test("a watch that has stalled unnoticed: queries pass for an engine that the API server has, and for any name it cannot confirm", async () => {
  sync();
  stored = new Set(["new"]);
  expect(await admission.check("new")).toEqual(UNSYNCED);
  expect(await hold("new")).toEqual(UNSYNCED);
  expect(await admission.check("never-created")).toEqual(UNKNOWN);
  stored = "unreachable";
  await clock.advance(2_000);
  expect(await admission.check("never-created")).toEqual(UNSYNCED);
  // Not requested again at once: a query must not wait for an API server that does not respond.
  expect(await admission.check("another")).toEqual(UNSYNCED);
  expect(confirmations).toEqual(["new", "never-created", "never-created"]);
  stored = new Set();
  await clock.advance(2_000);
  expect(await admission.check("never-created")).toEqual(UNKNOWN);
});

test("an engine that the watch delivers during the absence check is decided by the watch", async () => {
  sync();
  const [checked, held] = [admission.check("e"), hold()];
  putEngine("e", 0);
  expect(await checked).toEqual({ status: 202, decision: "wait" });
  await clock.advance(0);
  expect(queue.countOf("e")).toBe(1);
  queue.releaseAll("shutdown");
  await held;
});

test("invented names cost the API server ten requests in two seconds, however many they are", async () => {
  sync();
  for (let index = 0; index < 1_000; index++) await admission.check(`x${index}`);
  expect(confirmations).toHaveLength(10);
  await clock.advance(2_000);
  for (let index = 0; index < 1_000; index++) await admission.check(`x${index}`);
  expect(confirmations).toHaveLength(20);
});

test("a watch that has stalled unnoticed: of twenty engines that the API server has, none is unknown", async () => {
  sync();
  const names = Array.from({ length: 20 }, (_, index) => `real-${index}`);
  stored = new Set(names);
  for (const name of names) expect(await admission.check(name)).toEqual(UNSYNCED);
  expect(await Promise.all(names.map((name) => hold(name)))).toEqual(names.map(() => UNSYNCED));
  expect(confirmations).toHaveLength(10);
});

test("a flood for one engine takes every free place, and no place that another engine needs", async () => {
  putEngine("flooded", 0);
  putEngine("quiet", 0);
  sync();
  const flood = Array.from({ length: 50 }, () => hold("flooded"));
  expect(queue.countOf("flooded")).toBe(10);
  const waiting = hold("quiet");
  expect([queue.countOf("flooded"), queue.countOf("quiet")]).toEqual([9, 1]);
  expect(await hold("flooded")).toEqual({ status: 503, decision: "shed", retryAfterSeconds: 5 });
  putEngine("quiet", 1);
  putEndpoint("quiet", true);
  await clock.advance(0);
  expect(await waiting).toEqual({ status: 200, decision: "released" });
  // The displaced request is counted as shed, like the forty that got no place.
  expect(demand.rows().find(({ engine }) => engine === "flooded")).toMatchObject({ parked: 9, shed: 42 });
  queue.releaseAll("shutdown");
  const decisions = (await Promise.all(flood)).map(({ decision }) => decision);
  expect(decisions.filter((decision) => decision === "shed")).toHaveLength(41);
});

test("a displaced request passes when its engine is up", async () => {
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
  expect(queue.countOf("a")).toBe(1);
  queue.releaseAll("shutdown");
  await first;
});

test("four engines that do not start leave a place for a fifth", async () => {
  for (const name of ["a", "b", "c", "d", "e"]) putEngine(name, 0);
  sync();
  capacity = 8;
  for (const name of ["a", "b", "c", "d"]) for (let count = 0; count < 8; count++) void hold(name);
  expect(["a", "b", "c", "d"].map((name) => queue.countOf(name))).toEqual([2, 2, 2, 2]);
  void hold();
  expect(queue.countOf("e")).toBe(1);
  expect(queue.size).toBe(8);
  queue.releaseAll("shutdown");
});

test("capacity that has shrunk below what is held: the queue does not grow, and still admits an engine that has fewer", async () => {
  putEngine("a", 0);
  putEngine("b", 0);
  sync();
  const held = Array.from({ length: 4 }, () => hold("a"));
  capacity = 2;
  expect((await hold("a")).decision).toBe("shed");
  const waiting = hold("b");
  expect((await held[3])?.decision).toBe("shed");
  expect([queue.countOf("a"), queue.countOf("b")]).toEqual([3, 1]);
  putEngine("b", 1);
  putEndpoint("b", true);
  await clock.advance(0);
  expect(await waiting).toEqual({ status: 200, decision: "released" });
  queue.releaseAll("shutdown");
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
  expect(queue.countOf("off")).toBe(1);
  await clock.advance(1);
  expect(await first).toEqual({ status: 503, decision: "stopped", retryAfterSeconds: 10 });
  expect(queue.countOf("e")).toBe(1);
  const second = hold("off");
  await clock.advance(1_000);
  putOff(1);
  await clock.advance(30_000);
  expect(queue.countOf("off")).toBe(1);
  putEndpoint("off", true);
  await clock.advance(0);
  expect(await second).toEqual({ status: 200, decision: "released" });
  queue.releaseAll("shutdown");
  await other;
});

test("with a broken watch, requests are released for an engine that the gateway reaches", async () => {
  putEngine("e", 0);
  sync();
  const answer = hold();
  reached = "not yet";
  watchHealth.slices.observer.failed?.(new Error("cut off"));
  await clock.advance(10_000);
  expect(queue.size).toBe(1);
  reached = "yes";
  await clock.advance(2_000);
  expect(await answer).toEqual({ status: 200, decision: "released" });
});

test("released to an engine that is about to stop: the response must not be cached", async () => {
  putEngine("e", 0);
  sync();
  const answer = hold();
  putEndpoint("e", true);
  await clock.advance(0);
  expect(await answer).toEqual({ status: 200, decision: "leaving" });
});

test("the epoch increases whenever an engine that was ready may no longer be, and only then", async () => {
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
  // Served, but the response must not be cached.
  expect(await admission.check("e")).toEqual({ status: 200, decision: "leaving" });
  putEngine("e", 0, "switching");
  expect((await admission.check("e")).decision).toBe("wait");
});
