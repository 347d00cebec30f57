// Reports over a cache in memory and gateways that the test answers for: whom it reads, when, and what it makes of it.
import { formatKey, silentLogger } from "@firebolt-operator/kube";
import { ManualClock, MemoryCache } from "@firebolt-operator/kube/testing";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { renderDiscovery } from "../../wake-agent/discovery/render-discovery.ts";
import { pods } from "../cluster/kinds.ts";
import type { ScrapeResponse } from "../cluster/pod-scrape.ts";
import { GatewayReports } from "./gateway-reports.ts";
import { parseDiscovery } from "./parse-discovery.ts";

const E = { namespace: "ns", name: "e" };

let clock: ManualClock;
let gateways: MemoryCache<V1Pod>;
let read: string[];
let told: string[];
let answers: Map<string, () => ScrapeResponse | Promise<ScrapeResponse>>;
let reports: GatewayReports;

beforeEach(() => {
  clock = new ManualClock();
  gateways = new MemoryCache(pods);
  [read, told, answers] = [[], [], new Map()];
  reports = new GatewayReports({
    gateways,
    instances: new MemoryCache(FireboltInstance),
    agent: { container: "wake-agent", port: 9903 },
    clock,
    logger: silentLogger,
    signal: new AbortController().signal,
    read: async ({ metadata }) => {
      read.push(metadata?.name ?? "");
      return (answers.get(metadata?.name ?? "") ?? (() => response({})))();
    },
  });
  reports.onResult((engine) => told.push(formatKey(engine)));
});

interface Shown {
  readonly generation?: number;
  readonly connected?: boolean;
  readonly broken?: boolean;
  readonly withoutNamesMs?: number;
  readonly accepted?: boolean;
}

/** As the agent writes it. */
function response({
  generation = 1,
  connected = true,
  broken = false,
  withoutNamesMs = 60_000,
  accepted = true,
}: Shown) {
  const body = renderDiscovery({
    discovery: {
      connected,
      engines: ["e"],
      rejections: 0,
      generations: (engine) => new Map(engine === "e" ? [[generation, 2]] : []),
      isAccepted: () => accepted,
    },
    view: { complete: true, isWatchBroken: broken, engineNames: ["e", "stopped"] },
    gateway: { queriesByName: 3, withoutNamesMs },
  });
  return { status: 200, body };
}

function put(
  name: string,
  changes: { containers?: string[]; phase?: string; deleted?: true; namespace?: string } = {},
) {
  const { containers = ["envoy", "wake-agent"], phase = "Running", namespace = "ns" } = changes;
  gateways.put({
    metadata: {
      namespace,
      name,
      uid: `uid-${name}`,
      ...(changes.deleted === undefined ? {} : { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: { containers: containers.map((container) => ({ name: container })) },
    status: { phase },
  } as V1Pod);
}

/** The first call starts the readings, the second has their result. */
async function departure(generation = 0) {
  const request = { generation, sinceMs: clock.now() };
  const first = reports.departure(E, request);
  await clock.advance(1_000);
  return first === "pending" ? reports.departure(E, request) : first;
}

test("left once every gateway discovers endpoints, and has none of the generation", async () => {
  put("a");
  put("b");
  expect(await departure(0)).toEqual({ leftAtMs: expect.any(Number) });
  expect(await departure(1)).toBe("unknown");
  expect(told).toEqual(["ns/e", "ns/e"]);
});

test.each<[string, () => ScrapeResponse | Promise<ScrapeResponse>]>([
  ["still has the generation", () => response({ generation: 0 })],
  ["has endpoints of unknown generation", () => response({ generation: -1 })],
  ["has not accepted its endpoints", () => response({ accepted: false })],
  ["has no stream", () => response({ connected: false })],
  ["has lost its watch", () => response({ broken: true })],
  ["resolved a name a moment ago", () => response({ withoutNamesMs: 29_999 })],
  ["fails", () => Promise.reject(new Error("refused"))],
  ["is an older version without this report", () => ({ status: 404, body: "not found\n" })],
  ["shows nonsense", () => ({ status: 200, body: "hello" })],
])("discovery-known-not-assumed: unknown while one gateway %s", async (_, answer) => {
  put("works");
  put("other");
  answers.set("other", answer);
  expect(await departure(0)).toBe("unknown");
});

test("discovery-known-not-assumed: unknown without gateways, with one that has no agent, and with one that is starting; nothing is read then", async () => {
  expect(await departure()).toBe("unknown");
  put("a");
  put("agentless", { containers: ["envoy"] });
  expect(await departure()).toBe("unknown");
  put("agentless", { phase: "Pending" });
  expect(await departure()).toBe("unknown");
  put("agentless", { phase: "Failed" });
  put("elsewhere", { namespace: "other", containers: ["envoy"] });
  expect(read).toEqual([]);
  expect(await departure()).toEqual({ leftAtMs: expect.any(Number) });
});

test("a gateway that terminates still sends queries: it counts", async () => {
  put("a");
  put("leaving", { deleted: true });
  answers.set("leaving", () => response({ generation: 0 }));
  expect(await departure()).toBe("unknown");
});

test("one reading serves every engine that waits, and readings are a second apart", async () => {
  put("a");
  put("b");
  const engines = Array.from({ length: 200 }, (_, index) => ({ namespace: "ns", name: `e${index}` }));
  for (const engine of engines) reports.departure(engine, { generation: 0, sinceMs: clock.now() });
  await clock.advance(0);
  expect(read).toEqual(["a", "b"]);
  expect(told).toHaveLength(200);
  for (const engine of engines) {
    const sinceMs = clock.now() - 1_000;
    expect(reports.departure(engine, { generation: 0, sinceMs })).toEqual({ leftAtMs: expect.any(Number) });
  }
  // An engine that was switched later needs a later reading.
  await clock.advance(10);
  expect(reports.departure(E, { generation: 0, sinceMs: clock.now() })).toBe("pending");
  await clock.advance(900);
  expect(read).toHaveLength(2);
  await clock.advance(100);
  expect(read).toHaveLength(4);
});

test("a reading from before the request does not count, nor one of another pod of the same name", async () => {
  put("a");
  expect(await departure()).toEqual({ leftAtMs: expect.any(Number) });
  await clock.advance(10);
  expect(reports.departure(E, { generation: 0, sinceMs: clock.now() })).toBe("pending");
  await clock.advance(1_000);
  gateways.remove({ namespace: "ns", name: "a" });
  put("a");
  expect(reports.departure(E, { generation: 0, sinceMs: 0 })).toBe("pending");
});

test("a reading is used for nine seconds and no longer", async () => {
  put("a");
  expect(await departure()).toEqual({ leftAtMs: expect.any(Number) });
  await clock.advance(7_000);
  expect(reports.departure(E, { generation: 0, sinceMs: 0 })).toEqual({ leftAtMs: expect.any(Number) });
  await clock.advance(2_000);
  expect(reports.departure(E, { generation: 0, sinceMs: 0 })).toBe("pending");
});

test("any string is parsed or is no report", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => parseDiscovery(text) === undefined));
  const text = response({}).body;
  fc.assert(
    fc.property(fc.nat(text.length), fc.string({ maxLength: 5 }), (at, part) => {
      parseDiscovery(text.slice(0, at) + part + text.slice(at));
    }),
  );
});
