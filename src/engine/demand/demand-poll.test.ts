// The poll over caches in memory and fake gateways: which gateways it polls, when, and how it handles the responses.
import { formatKey, silentLogger, untilAborted } from "@firebolt-operator/kube";
import { ManualClock, MemoryCache } from "@firebolt-operator/kube/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { pods } from "../cluster/kinds.ts";
import type { ScrapeResponse } from "../cluster/pod-scrape.ts";
import { DemandPoll } from "./demand-poll.ts";

const AGENT = { container: "wake-agent", port: 9903 };

let clock: ManualClock;
let engines: MemoryCache<FireboltEngine>;
let gateways: MemoryCache<V1Pod>;
let instances: MemoryCache<FireboltInstance>;
/** `mode pod` of every question. */
let asked: string[];
let failed: string[];
let complaints: number;
let recorded: string[];
let answers: Map<string, () => Promise<ScrapeResponse> | ScrapeResponse>;
let poll: DemandPoll;
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = new ManualClock();
  engines = new MemoryCache(FireboltEngine);
  gateways = new MemoryCache(pods);
  instances = new MemoryCache(FireboltInstance);
  [asked, failed, recorded, complaints, answers] = [[], [], [], 0, new Map()];
  poll = new DemandPoll({
    engines,
    instances,
    gateways,
    agent: AGENT,
    clock,
    logger: { ...silentLogger, error: () => void complaints++ },
    onScrapeFailed: (namespace) => failed.push(namespace),
    read: async ({ metadata }, mode, signal) => {
      asked.push(`${mode} ${metadata?.name}`);
      const answer = (answers.get(metadata?.name ?? "") ?? (() => page({})))();
      return untilAborted(Promise.resolve(answer), signal);
    },
  });
  stop = new AbortController();
  running = poll.run(stop.signal);
  poll.onDemand((key) => recorded.push(formatKey(key)));
});

afterEach(async () => {
  stop.abort();
  await running;
});

/** Seconds since the epoch and held requests, by engine. */
function page(rows: Readonly<Record<string, readonly [number, number]>>): ScrapeResponse {
  const lines = Object.entries(rows).flatMap(([engine, [seconds, holds]]) => [
    `firebolt_gateway_wake_last_demand_timestamp_seconds{engine="${engine}"} ${seconds}`,
    `firebolt_gateway_wake_pending_holds{engine="${engine}"} ${holds}`,
  ]);
  return { status: 200, body: [...lines, "firebolt_gateway_wake_demand_dropped_total 0", ""].join("\n") };
}

function putEngine(name: string, replicas: number, autoStopReason?: "Stopped" | "Disabled", namespace = "ns"): void {
  const status = autoStopReason === undefined ? {} : { autoStopReason };
  engines.put({ metadata: { namespace, name }, spec: { replicas, instanceRef: "main" }, status } as FireboltEngine);
}

function putGateway(
  name: string,
  changes: Partial<V1Pod["metadata"]> = {},
  containers = ["envoy", "wake-agent"],
): void {
  gateways.put({
    metadata: { namespace: "ns", name, labels: { "firebolt.io/instance": "main" }, ...changes },
    spec: { containers: containers.map((container) => ({ name: container })) },
    status: { phase: "Running", podIP: "10.0.0.1" },
  });
}

const turn = () => clock.advance(0);
const aWhile = () => clock.advance(2_000);

test("nothing is polled, and no timer runs but one for a day, while no engine could be woken", async () => {
  putGateway("g");
  putEngine("runs", 1, "Stopped");
  putEngine("off", 0, "Disabled");
  putEngine("unjudged", 0);
  engines.put({
    metadata: { namespace: "ns", name: "leaving", deletionTimestamp: "2026-01-01T00:00:00Z" },
    spec: { replicas: 0 },
    status: { autoStopReason: "Stopped" },
  } as FireboltEngine);
  await clock.advance(60_000);
  expect(asked).toEqual([]);
  expect(clock.pending).toBe(1);
});

test("polled at once when an engine becomes wakeable, every two seconds after that, and no more when it runs", async () => {
  putGateway("g");
  await turn();
  putEngine("e", 0, "Stopped");
  await turn();
  expect(asked).toEqual(["ApiserverProxy g"]);
  await aWhile();
  await aWhile();
  expect(asked).toHaveLength(3);
  putEngine("e", 1, "Stopped");
  await clock.advance(60_000);
  expect(asked).toHaveLength(3);
});

test("only gateways that have an agent, run and stay; in namespaces with such an engine; in the mode of their instance", async () => {
  putGateway("agentless", {}, ["envoy"]);
  putGateway("leaving", { deletionTimestamp: "2026-01-01T00:00:00Z" });
  putGateway("elsewhere", { namespace: "other" });
  putGateway("direct", { labels: { "firebolt.io/instance": "direct" } });
  putGateway("proxied");
  gateways.put({
    metadata: { namespace: "ns", name: "pending" },
    spec: { containers: [{ name: "wake-agent" }] },
    status: { phase: "Pending" },
  });
  instances.put({
    metadata: { namespace: "ns", name: "direct" },
    spec: { metricScrapeMode: "PodIP" },
  } as FireboltInstance);
  putEngine("e", 0, "Stopped");
  await turn();
  expect(asked.toSorted()).toEqual(["ApiserverProxy proxied", "PodIP direct"]);
});

test("new and newer demand is reported; the same is not reported twice; names that are no wakeable engine are not kept", async () => {
  putGateway("g");
  putEngine("e", 0, "Stopped");
  putEngine("runs", 1, "Stopped");
  answers.set("g", () => page({ e: [100, 0], runs: [100, 0], stranger: [100, 5] }));
  await turn();
  await aWhile();
  expect(recorded).toEqual(["ns/e"]);
  expect(poll.of({ namespace: "ns", name: "e" })).toEqual({ stampMs: 100_000, isWaitedFor: false, gateway: "g" });
  expect(poll.of({ namespace: "ns", name: "runs" })).toBeUndefined();
  expect(poll.of({ namespace: "ns", name: "stranger" })).toBeUndefined();
  answers.set("g", () => page({ e: [101.5, 2] }));
  await aWhile();
  expect(recorded).toEqual(["ns/e", "ns/e"]);
  expect(poll.of({ namespace: "ns", name: "e" })).toEqual({ stampMs: 101_500, isWaitedFor: true, gateway: "g" });
});

test("demand shown for an engine that ran does not count once it is stopped, nor that for a stopped one once it runs", async () => {
  putGateway("g");
  putEngine("e", 0, "Stopped");
  putEngine("runs", 1, "Stopped");
  answers.set("g", () => page({ e: [100, 0], runs: [100, 0] }));
  await turn();
  putEngine("runs", 0, "Stopped");
  expect(poll.of({ namespace: "ns", name: "runs" })).toBeUndefined();
  putEngine("e", 1, "Stopped");
  expect(poll.of({ namespace: "ns", name: "e" })).toBeUndefined();
});

test("of several gateways the newest stamp counts, and whether a request waits at any of them", async () => {
  for (const name of ["a", "b", "c"]) putGateway(name);
  putEngine("e", 0, "Stopped");
  answers.set("a", () => page({ e: [100, 0] }));
  answers.set("b", () => page({ e: [300, 0] }));
  answers.set("c", () => page({ e: [200, 1] }));
  await turn();
  expect(poll.of({ namespace: "ns", name: "e" })).toEqual({ stampMs: 300_000, isWaitedFor: true, gateway: "b" });
});

test("a late listener hears of what is known: a new leader starts with it", async () => {
  putGateway("g");
  putEngine("e", 0, "Stopped");
  answers.set("g", () => page({ e: [100, 0] }));
  await turn();
  const late: string[] = [];
  poll.onDemand((key) => late.push(formatKey(key)));
  expect(late).toEqual(["ns/e"]);
});

test.each([
  ["refuses", () => Promise.reject(new Error("connection refused"))],
  ["redirects", () => ({ status: 302, body: "" })],
  ["returns nonsense", () => ({ status: 200, body: "hello" })],
])("a gateway that %s is counted, forgotten, logged once a minute, and polled again", async (_, answer) => {
  putGateway("g");
  putEngine("e", 0, "Stopped");
  answers.set("g", () => page({ e: [100, 1] }));
  await turn();
  answers.set("g", answer);
  await aWhile();
  expect(poll.of({ namespace: "ns", name: "e" })).toBeUndefined();
  await aWhile();
  expect([failed, complaints]).toEqual([["ns", "ns"], 1]);
  answers.set("g", () => page({ e: [100, 1] }));
  await aWhile();
  expect(poll.of({ namespace: "ns", name: "e" })).toBeDefined();
});

test("a gateway that hangs delays no other and is not polled twice at the same time", async () => {
  putGateway("hangs");
  putGateway("works");
  putEngine("e", 0, "Stopped");
  const never = Promise.withResolvers<ScrapeResponse>();
  answers.set("hangs", () => never.promise);
  answers.set("works", () => page({ e: [100, 0] }));
  for (let count = 0; count < 3; count++) await aWhile();
  expect(asked.filter((one) => one.endsWith("hangs"))).toHaveLength(1);
  expect(asked.filter((one) => one.endsWith("works")).length).toBeGreaterThanOrEqual(3);
  expect(recorded).toEqual(["ns/e"]);
  never.resolve(page({}));
});

/** A gateway that takes the connection and never responds: the request ends by its time limit. */
const hangs = () =>
  new Promise<ScrapeResponse>((_, reject) => clock.after(3_000, () => reject(new Error("no response"))));

test("a gateway that responded is polled every two seconds, however many others hang", async () => {
  putGateway("works");
  putEngine("e", 0, "Stopped");
  await turn();
  for (let index = 0; index < 500; index++) {
    putGateway(`hangs-${index}`);
    answers.set(`hangs-${index}`, hangs);
  }
  for (let count = 0; count < 10; count++) {
    answers.set("works", () => page({ e: [100 + count, 0] }));
    await aWhile();
    expect(poll.of({ namespace: "ns", name: "e" })?.stampMs).toBe((100 + count) * 1_000);
  }
  // Nor are the others forgotten: each has its turn, and none a second one before all have had their first.
  const turns = Map.groupBy(
    asked.filter((one) => one.includes("hangs")),
    (one) => one,
  );
  expect(Math.max(...[...turns.values()].map(({ length }) => length))).toBe(1);
  await clock.advance(20_000);
  expect(new Set(asked).size).toBe(501);
});

test("a gateway that is observed for the first time is polled after at most as many turns of three seconds as there are others for", async () => {
  for (let index = 0; index < 300; index++) {
    putGateway(`hangs-${index}`);
    answers.set(`hangs-${index}`, hangs);
  }
  putGateway("new");
  answers.set("new", () => page({ e: [100, 0] }));
  putEngine("e", 0, "Stopped");
  await clock.advance((300 / 64) * 3_000);
  expect(recorded).toEqual(["ns/e"]);
});

test("gateways that all begin to hang at once delay the others by one time limit", async () => {
  for (let index = 0; index < 200; index++) putGateway(`g-${index}`);
  putGateway("works");
  putEngine("e", 0, "Stopped");
  await clock.advance(4_000);
  for (let index = 0; index < 200; index++) answers.set(`g-${index}`, hangs);
  answers.set("works", () => page({ e: [100, 0] }));
  await clock.advance(2_000 + 4 * 3_000);
  expect(recorded).toEqual(["ns/e"]);
  answers.set("works", () => page({ e: [200, 0] }));
  await aWhile();
  expect(poll.of({ namespace: "ns", name: "e" })?.stampMs).toBe(200_000);
});

test("what a gateway reported is dropped with it", async () => {
  putGateway("g");
  putEngine("e", 0, "Stopped");
  answers.set("g", () => page({ e: [100, 1] }));
  await turn();
  gateways.remove({ namespace: "ns", name: "g" });
  await aWhile();
  expect(poll.of({ namespace: "ns", name: "e" })).toBeUndefined();
});

test("woken, stopped again: demand that was reported before is reported again, for the decision to judge", async () => {
  putGateway("g");
  putEngine("e", 0, "Stopped");
  answers.set("g", () => page({ e: [100, 0] }));
  await turn();
  putEngine("e", 1, "Stopped");
  await aWhile();
  putEngine("e", 0, "Stopped");
  await turn();
  expect(recorded).toEqual(["ns/e", "ns/e"]);
});
