import { ManualClock } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { Demand, renderDemand } from "./demand.ts";

const MINUTE = 60_000;

function open(mostNames?: number) {
  const clock = new ManualClock();
  const held = new Map<string, number>();
  const demand = new Demand({
    clock,
    retentionMs: 10 * MINUTE,
    heldCount: (engine) => held.get(engine) ?? 0,
    ...(mostNames === undefined ? {} : { mostNames }),
  });
  return { clock, held, demand };
}

test("a row is kept for ten minutes after the last request, and while requests are held", async () => {
  const { clock, held, demand } = open();
  demand.record("a");
  demand.record("b");
  held.set("b", 1);
  await clock.advance(9 * MINUTE);
  demand.record("c");
  await clock.advance(MINUTE + 1);
  expect(demand.rows().map(({ engine }) => engine)).toEqual(["b", "c"]);
  held.delete("b");
  expect(demand.rows().map(({ engine }) => engine)).toEqual(["c"]);
});

test("the number of names is bounded: excess requests are counted, and expired rows make room", async () => {
  const { clock, demand } = open(2);
  for (const name of ["a", "b", "c", "d"]) demand.record(name);
  expect(demand.rows().map(({ engine }) => engine)).toEqual(["a", "b"]);
  expect(demand.dropped).toBe(2);
  await clock.advance(10 * MINUTE + 1);
  demand.record("c");
  expect(demand.rows().map(({ engine }) => engine)).toEqual(["c"]);
});

test("4096 names at most", () => {
  const { demand } = open();
  for (let index = 0; index < 5_000; index++) demand.record(`e${index}`);
  expect(demand.rows()).toHaveLength(4_096);
  expect(demand.dropped).toBe(904);
});

test("with the longest names, all of them shed and held, the response stays below the mebibyte that readers accept", () => {
  const { demand, held } = open();
  for (let index = 0; index < 5_000; index++) {
    const name = String(index).padStart(63, "e");
    demand.record(name);
    for (let times = 0; times < 3; times++) demand.shed(name);
    held.set(name, 99_999);
  }
  const rows = demand.rows();
  expect(rows.length).toBeGreaterThan(2_500);
  expect(rows.length + demand.dropped).toBe(5_000);
  expect(
    Buffer.byteLength(renderDemand({ rows, dropped: demand.dropped, apiErrors: { write: 999_999, watch: 999_999 } })),
  ).toBeLessThanOrEqual(1_048_576);
});

test("the response of /demand", () => {
  const { demand, held } = open();
  demand.record("a");
  demand.shed("a");
  demand.shed("nobody");
  held.set("a", 7);
  const body = renderDemand({ rows: demand.rows(), dropped: demand.dropped, apiErrors: { write: 3, watch: 1 } });
  expect(body.split("\n").filter((line) => !line.startsWith("#"))).toEqual([
    `firebolt_gateway_wake_last_demand_timestamp_seconds{engine="a"} ${Date.UTC(2026, 0, 1) / 1_000}`,
    'firebolt_gateway_wake_pending_holds{engine="a"} 7',
    'firebolt_gateway_wake_shed_total{engine="a"} 1',
    "firebolt_gateway_wake_demand_dropped_total 0",
    'firebolt_gateway_wake_api_errors_total{operation="write"} 3',
    'firebolt_gateway_wake_api_errors_total{operation="watch"} 1',
    "",
  ]);
});
