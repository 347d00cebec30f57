// Queries for stopped engines, through a real Envoy with a real wake agent beside it: held, the engine woken by the
// real operator on a real control plane, and served. No request may fail.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { REPEAT_MS } from "../../src/wake-agent/wake-requester.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { GatewayClient } from "../harness/envoy/gateway-client.ts";
import { openWakeHarness, openWakePlane, type WakeHarness, type WakePlane } from "./support/wake-harness.ts";

/** Ends what hangs: as long as an agent holds a query. */
const HOLD_MS = 120_000;

let plane: WakePlane;
let harness: WakeHarness;
let sent = 0;
let failed = 0;

beforeAll(async () => {
  plane = await openWakePlane();
});
afterEach(() => harness?.[Symbol.asyncDispose]());
afterAll(async () => {
  console.log(`wake-hold: ${sent} requests sent that had to succeed, ${failed} failed`);
  await plane?.[Symbol.asyncDispose]();
});

/** Sends this many queries concurrently; all of them must succeed. */
async function burst(port: number, engine: string, count: number, path = "/"): Promise<readonly number[]> {
  const client = new GatewayClient(port);
  const began = performance.now();
  const results = await Promise.allSettled(
    Array.from({ length: count }, async () => {
      await client.query({ engine, path, deadlineMs: HOLD_MS });
      return performance.now() - began;
    }),
  );
  sent += client.sent;
  failed += client.failed;
  const failures = results.flatMap((result) => (result.status === "rejected" ? [String(result.reason)] : []));
  expect(failures).toEqual([]);
  return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

test("query-held-and-answered: one query for a stopped engine is held, the engine starts, the query succeeds", async () => {
  harness = await openWakeHarness(plane, "one");
  await harness.createStopped("e");
  const gateway = await harness.gateway();
  const [heldMs = 0] = await burst(gateway.clientPort, "e", 1);
  console.log(`one query: held for ${Math.round(heldMs)} ms`);
  await harness.engineHarness.until(
    "e",
    ({ status, spec }) => status?.phase === "stable" && spec?.replicas === 1,
    "woken",
  );
  // Its decision is stored until the next pass, which may be immediate.
  const reasons = harness.engineHarness.history
    .of("FireboltEngine", "e")
    .map(({ object }) => object.status?.autoStopReason);
  expect(reasons).toContain("WakeRequested");
  expect(harness.stamps("e")).toBeGreaterThan(0);
  expect(harness.stamps("e")).toBeLessThanOrEqual(1 + Math.floor(heldMs / REPEAT_MS));
  expect(harness.engineHarness.broken()).toEqual([]);
  // The engine is known now: a second query is not checked.
  const demand = await gateway.demand("last_demand_timestamp_seconds", "e");
  await burst(gateway.clientPort, "e", 1, "/?query_label=direct");
  expect(await gateway.demand("last_demand_timestamp_seconds", "e")).toBe(demand);
});

test("500 concurrent queries for one stopped engine: all succeed, one stamp per interval", async () => {
  harness = await openWakeHarness(plane, "burst");
  await harness.createStopped("e");
  const gateway = await harness.gateway();
  const began = performance.now();
  const held = await burst(gateway.clientPort, "e", 500);
  const seconds = (performance.now() - began) / 1_000;
  console.log(`500 queries: held for ${Math.round(Math.min(...held))} to ${Math.round(Math.max(...held))} ms`);
  const intervals = 1 + Math.floor((1_000 * seconds) / REPEAT_MS);
  expect(harness.stamps("e")).toBeLessThanOrEqual(intervals);
  const asked = plane.agentRequests(harness.engineHarness.namespace).filter((request) => !/^(list|get) /.test(request));
  expect(asked).toEqual(Array.from({ length: Math.min(asked.length, intervals) }, () => "patch fireboltengines/e"));
  expect(asked.length).toBeGreaterThan(0);
  await eventually(async () => (await gateway.demand("pending_holds", "e")) === 0);
});

test("queries keep coming while the gateway has looked the stopped engine up already, and DNS is slow", async () => {
  harness = await openWakeHarness(plane, "slow");
  await harness.createStopped("e");
  harness.dns.lag(3_000);
  const gateway = await harness.gateway();
  // Without its agent the gateway passes the query on: now Envoy knows the name, and that it has no address.
  await gateway.agent().stop("SIGKILL");
  expect((await harness.client(gateway).send({ engine: "e" })).status).toBe(503);
  await gateway.startAgent();
  await eventually(async () => (await harness.client(gateway).send({ engine: "nobody" })).status === 404);
  const all = [burst(gateway.clientPort, "e", 5)];
  for (let round = 0; round < 10; round++) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    all.push(burst(gateway.clientPort, "e", 5));
  }
  await Promise.all(all);
});

test("concurrent queries for 50 stopped engines: all of them wake", async () => {
  harness = await openWakeHarness(plane, "many");
  const names = Array.from({ length: 50 }, (_, index) => `e${index}`);
  await Promise.all(names.map((name) => harness.createStopped(name)));
  const gateway = await harness.gateway();
  const held = await Promise.all(names.map((name) => burst(gateway.clientPort, name, 2)));
  console.log(`50 engines: the last query was held for ${Math.round(Math.max(...held.flat()))} ms`);
}, 300_000);
