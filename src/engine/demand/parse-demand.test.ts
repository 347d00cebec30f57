import fc from "fast-check";
import { expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";
import { renderDemand } from "../../wake-agent/demand.ts";
import { parseDemand } from "./parse-demand.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

const END = "firebolt_gateway_wake_demand_dropped_total 0\n";

test("what the agent renders is read back", () => {
  const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
  const row = fc.record({
    engine: name,
    stampMs: fc.integer({ min: 1, max: 4e12 }),
    holds: fc.nat(),
    shed: fc.nat(),
  });
  fc.assert(
    fc.property(fc.uniqueArray(row, { selector: ({ engine }) => engine }), (rows) => {
      const page = parseDemand(renderDemand({ rows, dropped: 1, apiErrors: { write: 0, watch: 0 } }));
      expect([...(page ?? [])].map(([engine, { holds }]) => [engine, holds])).toEqual(
        rows.map(({ engine, holds }) => [engine, holds]),
      );
      for (const { engine, stampMs } of rows) expect(page?.get(engine)?.stampMs).toBeCloseTo(stampMs, 0);
    }),
  );
});

test.each([
  ["nothing", ""],
  ["another page", "<html>hello</html>"],
  ["an engine's metrics", `${GAUGE.running} 0\n`],
])("%s is no such response", (_, text) => {
  expect(parseDemand(text)).toBeUndefined();
});

test.each([
  'firebolt_gateway_wake_last_demand_timestamp_seconds{engine="UPPER"} 1',
  'firebolt_gateway_wake_last_demand_timestamp_seconds{engine="a.b"} 1',
  'firebolt_gateway_wake_last_demand_timestamp_seconds{engine="a"} NaN',
  'firebolt_gateway_wake_last_demand_timestamp_seconds{engine="a"} -1',
  'firebolt_gateway_wake_last_demand_timestamp_seconds{engine="a",x="y"} 1',
  '# firebolt_gateway_wake_last_demand_timestamp_seconds{engine="a"} 1',
  'firebolt_gateway_wake_pending_holds{engine="a"} 1',
])("%s counts for nothing", (line) => {
  expect(parseDemand(`${line}\n${END}`)?.size).toBe(0);
});

test("any string has a result", () => {
  fc.assert(fc.property(fc.string(), (text) => void parseDemand(`${text}${END}`)));
});
