import { expect, test } from "vitest";
import { parseQueryMetrics } from "./query-metrics.ts";

const page = (running: string, suspended: string) =>
  `# HELP firebolt_running_queries 7\n# TYPE firebolt_running_queries gauge\n\n${running}\nother 4\n${suspended}\n`;

test.each([
  ["both gauges", "firebolt_running_queries 2", "firebolt_suspended_queries 1", 2, 1],
  ["a timestamp is ignored", "firebolt_running_queries 0 1700000000000", "firebolt_suspended_queries 0", 0, 0],
  ["floats and exponents", "firebolt_running_queries 1.5e1", "firebolt_suspended_queries .5", 15, 0.5],
  ["tabs and carriage returns", "firebolt_running_queries\t3\r", "firebolt_suspended_queries \t 4 \r", 3, 4],
  [
    "the first match wins",
    "firebolt_running_queries 1\nfirebolt_running_queries 9",
    "firebolt_suspended_queries 0",
    1,
    0,
  ],
  [
    "a labelled sample before it is no match",
    'firebolt_running_queries{a="b"} 9\nfirebolt_running_queries 1',
    "firebolt_suspended_queries 0",
    1,
    0,
  ],
  [
    "a longer name is no match",
    "firebolt_running_queries_total 9\nfirebolt_running_queries 1",
    "firebolt_suspended_queries 0",
    1,
    0,
  ],
] as const)("parsing: %s", (_, running, suspended, wantRunning, wantSuspended) => {
  expect(parseQueryMetrics(page(running, suspended))).toEqual({
    type: "read",
    running: wantRunning,
    suspended: wantSuspended,
  });
});

test.each([
  ["silence-is-not-idle: not a number", "firebolt_running_queries many"],
  ["silence-is-not-idle: NaN", "firebolt_running_queries NaN"],
  ["silence-is-not-idle: infinite", "firebolt_running_queries +Inf"],
  ["silence-is-not-idle: past the range of a float", "firebolt_running_queries 1e999"],
  ["silence-is-not-idle: negative", "firebolt_running_queries -1"],
  ["silence-is-not-idle: no value", "firebolt_running_queries"],
  ["silence-is-not-idle: blank value", "firebolt_running_queries   "],
  ["silence-is-not-idle: hexadecimal", "firebolt_running_queries 0x0"],
  [
    "silence-is-not-idle: a bad first sample is not skipped for a good second",
    "firebolt_running_queries x\nfirebolt_running_queries 0",
  ],
  ["gauge-with-labels-only: labels only", 'firebolt_running_queries{engine="a"} 0'],
  ["only in a comment", "# firebolt_running_queries 0"],
  ["name in the middle of a line", "x firebolt_running_queries 0"],
  ["absent", ""],
] as const)("%s means missing, never zero", (_, running) => {
  expect(parseQueryMetrics(page(running, "firebolt_suspended_queries 0"))).toEqual({
    type: "missing",
    gauges: ["firebolt_running_queries"],
  });
});

test("both gauges must be there", () => {
  expect(parseQueryMetrics("<html>404</html>")).toEqual({
    type: "missing",
    gauges: ["firebolt_running_queries", "firebolt_suspended_queries"],
  });
});
