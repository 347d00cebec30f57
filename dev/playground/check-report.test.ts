import { expect, test } from "vitest";
import { type CheckFacts, percentile, renderReport } from "./check-report.ts";

const facts: CheckFacts = {
  mode: "cluster",
  fallback: undefined,
  times: { controlPlaneSeconds: 10.123, operatorSeconds: 20, readySeconds: 40 },
  queries: [{ durationMs: 4 }, { durationMs: 10.005 }],
  wantedQueries: 2,
  teardownSeconds: 2,
  totalSeconds: 43,
  failures: [],
};

test("a run without failures is ok, and reports its figures", () => {
  expect(renderReport(facts)).toEqual({
    ok: true,
    mode: "cluster",
    controlPlaneSeconds: 10.12,
    operatorSeconds: 20,
    readySeconds: 40,
    queriesSent: 2,
    queriesFailed: 0,
    p50Ms: 4,
    p99Ms: 10.01,
    teardownSeconds: 2,
    totalSeconds: 43,
    failures: [],
  });
});

test.each<{ name: string; change: Partial<CheckFacts>; want: object }>([
  {
    name: "a failed query",
    change: { queries: [{ durationMs: 1, failure: "503" }, { durationMs: 1 }] },
    want: { queriesFailed: 1, failures: ["503"] },
  },
  { name: "a query that was not sent", change: { queries: [{ durationMs: 1 }] }, want: { queriesSent: 1 } },
  { name: "a failure on the way", change: { failures: ["no node"] }, want: { failures: ["no node"] } },
  { name: "a start that did not get far", change: { times: {}, queries: [] }, want: { readySeconds: -1, p50Ms: -1 } },
])("$name is not ok", ({ change, want }) => {
  expect(renderReport({ ...facts, ...change })).toMatchObject({ ok: false, ...want });
});

test("equal failures of many queries are reported once", () => {
  const queries = Array.from({ length: 5 }, () => ({ durationMs: 1, failure: "adhoc: status 503" }));
  expect(renderReport({ ...facts, queries })).toMatchObject({ queriesFailed: 5, failures: ["adhoc: status 503"] });
});

test("simulated pods are reported with the reason", () => {
  expect(renderReport({ ...facts, mode: "simulated", fallback: "not root" })).toMatchObject({
    ok: true,
    mode: "simulated",
    fallback: "not root",
  });
});

test.each([
  { percent: 50, want: 50 },
  { percent: 99, want: 99 },
  { percent: 100, want: 100 },
  { percent: 0.1, want: 1 },
])("$percent % of 1 … 100", ({ percent, want }) => {
  const values = Array.from({ length: 100 }, (_, n) => 100 - n);
  expect(percentile(values, percent)).toBe(want);
});
