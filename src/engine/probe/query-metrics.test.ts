import { expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";
import { parseQueryMetrics } from "./query-metrics.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

const page = (running: string, suspended: string) =>
  `# HELP ${GAUGE.running} 7\n# TYPE ${GAUGE.running} gauge\n\n${running}\nother 4\n${suspended}\n`;

test.each([
  ["both gauges", `${GAUGE.running} 2`, `${GAUGE.suspended} 1`, 3],
  ["a timestamp is ignored", `${GAUGE.running} 0 1700000000000`, `${GAUGE.suspended} 0`, 0],
  ["floats and exponents", `${GAUGE.running} 1.5e1`, `${GAUGE.suspended} .5`, 15.5],
  ["tabs and carriage returns", `${GAUGE.running}\t3\r`, `${GAUGE.suspended} \t 4 \r`, 7],
  ["the first match wins", `${GAUGE.running} 1\n${GAUGE.running} 9`, `${GAUGE.suspended} 0`, 1],
  [
    "a labelled sample before it is no match",
    `${GAUGE.running}{a="b"} 9\n${GAUGE.running} 1`,
    `${GAUGE.suspended} 0`,
    1,
  ],
  ["a longer name is no match", `${GAUGE.running}_total 9\n${GAUGE.running} 1`, `${GAUGE.suspended} 0`, 1],
] as const)("parsing: %s", (_, running, suspended, queries) => {
  expect(parseQueryMetrics(page(running, suspended))).toEqual({ type: "read", queries });
});

test.each([
  ["silence-is-not-idle: not a number", `${GAUGE.running} many`],
  ["silence-is-not-idle: NaN", `${GAUGE.running} NaN`],
  ["silence-is-not-idle: infinite", `${GAUGE.running} +Inf`],
  ["silence-is-not-idle: past the range of a float", `${GAUGE.running} 1e999`],
  ["silence-is-not-idle: negative", `${GAUGE.running} -1`],
  ["silence-is-not-idle: no value", `${GAUGE.running}`],
  ["silence-is-not-idle: blank value", `${GAUGE.running}   `],
  ["silence-is-not-idle: hexadecimal", `${GAUGE.running} 0x0`],
  [
    "silence-is-not-idle: a bad first sample is not skipped for a good second",
    `${GAUGE.running} x\n${GAUGE.running} 0`,
  ],
  ["gauge-with-labels-only: labels only", `${GAUGE.running}{engine="a"} 0`],
  ["only in a comment", `# ${GAUGE.running} 0`],
  ["name in the middle of a line", `x ${GAUGE.running} 0`],
  ["absent", ""],
] as const)("%s means missing, never zero", (_, running) => {
  expect(parseQueryMetrics(page(running, `${GAUGE.suspended} 0`))).toEqual({
    type: "missing",
    gauges: [`${GAUGE.running}`],
  });
});

test("both gauges must be there", () => {
  expect(parseQueryMetrics("<html>404</html>")).toEqual({
    type: "missing",
    gauges: [`${GAUGE.running}`, `${GAUGE.suspended}`],
  });
});

test("every gauge of the contract counts, and must be there", () => {
  const gauges = Object.values(GAUGE);
  const pageOf = (values: readonly (readonly [string, number])[]) =>
    values.map(([gauge, value]) => `${gauge} ${value}\n`).join("");
  for (const busy of gauges) {
    const values = gauges.map((gauge) => [gauge, gauge === busy ? 1 : 0] as const);
    expect(parseQueryMetrics(pageOf(values))).toEqual({ type: "read", queries: 1 });
    const others = values.filter(([gauge]) => gauge !== busy);
    expect(parseQueryMetrics(pageOf(others))).toEqual({ type: "missing", gauges: [busy] });
  }
});

test("a further gauge of running work is neither ignored nor optional", () => {
  const further = [...Object.values(GAUGE), "firebolt_queued_queries"];
  const idle = page(`${GAUGE.running} 0`, `${GAUGE.suspended} 0`);
  expect(parseQueryMetrics(idle, further)).toEqual({ type: "missing", gauges: ["firebolt_queued_queries"] });
  expect(parseQueryMetrics(`${idle}firebolt_queued_queries 2\n`, further)).toEqual({ type: "read", queries: 2 });
});
