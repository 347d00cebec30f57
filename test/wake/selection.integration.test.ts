// Queries that reach a stopped engine without naming it in a header: by host, and as the default engine. They are held and wake it like any
// other, and a default engine that does not exist is a 404.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openWakeHarness, openWakePlane, type WakeHarness, type WakePlane } from "./support/wake-harness.ts";

/** Ends what hangs: as long as an agent holds a query. */
const HOLD_MS = 120_000;
const selection = { hostDomains: ["fb.example.com"], defaultEngine: "e", service: "main-gateway" };

let plane: WakePlane;
let harness: WakeHarness;

beforeAll(async () => {
  plane = await openWakePlane();
});
afterEach(() => harness?.[Symbol.asyncDispose]());
afterAll(() => plane?.[Symbol.asyncDispose]());

test.each([
  { name: "by host", host: "e.fb.example.com" },
  { name: "as the default engine", host: "fb.example.com" },
  { name: "as the default engine, by the gateway's own name", host: "main-gateway" },
])("query-held-and-answered: a stopped engine that is named $name starts and answers", async ({ host }) => {
  harness = await openWakeHarness(plane, "selected");
  await harness.createStopped("e");
  const gateway = await harness.gateway({ selection });
  const client = harness.client(gateway);
  const { value } = await client.query({ headers: { Host: host }, deadlineMs: HOLD_MS });
  expect(value).toBe(42);
  expect(harness.stamps("e")).toBeGreaterThan(0);
  await harness.engineHarness.until(
    "e",
    ({ status, spec }) => status?.phase === "stable" && spec?.replicas === 1,
    "woken",
  );
  expect(harness.engineHarness.broken()).toEqual([]);
});

test("a default engine that does not exist, and a host that names nobody, are a 404 that names the engine", async () => {
  harness = await openWakeHarness(plane, "missing");
  const client = harness.client(await harness.gateway({ selection }));
  for (const [host, engine] of [
    ["fb.example.com", "e"],
    ["nobody.fb.example.com", "nobody"],
  ] as const)
    expect(await client.send({ headers: { Host: host } })).toMatchObject({
      status: 404,
      text: `there is no engine "${engine}" in this namespace`,
    });
});

test("a default engine that no query may start is a 503 that says how to start it", async () => {
  harness = await openWakeHarness(plane, "off");
  await harness.createStopped("e", { autoStop: undefined });
  const client = harness.client(await harness.gateway({ selection }));
  const { status, text } = await client.send({ headers: { Host: "fb.example.com" } });
  expect({ status, text }).toEqual({
    status: 503,
    text: expect.stringMatching(/^engine "e" is stopped, and no query starts it because auto-stop is off/),
  });
});
