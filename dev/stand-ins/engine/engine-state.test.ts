import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ENGINE_CONTRACT } from "../../../src/api/engine-contract.ts";
import { EngineState } from "./engine-state.ts";
import { renderMetrics } from "./metrics-server.ts";
import { parseStatement } from "./statement.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

describe("readiness", () => {
  test("needs the start conditions, can be overridden by a test, and ends with the fence", () => {
    const state = new EngineState();
    expect(state.ready).toBe(false);
    state.started = true;
    expect(state.ready).toBe(true);
    state.readyOverride = false;
    expect(state.ready).toBe(false);
    state.readyOverride = true;
    state.fenced = true;
    expect(state.ready).toBe(false);
  });
});

describe("gauges", () => {
  test("follow the queries", async () => {
    const state = new EngineState();
    const running = state.accept("running");
    const suspended = state.accept("suspended");
    expect(renderMetrics(state)).toMatch(
      new RegExp(`^firebolt_queries 2\\n(.*\\n)*${GAUGE.running} 1\\n(.*\\n)*${GAUGE.suspended} 1$`, "m"),
    );
    running.done();
    suspended.done();
    await state.untilIdle();
    expect(renderMetrics(state)).toMatch(new RegExp(`^${GAUGE.running} 0$`, "m"));
  });

  test("can be missing or labelled", () => {
    const state = new EngineState();
    state.metricsMode = "missing";
    expect(renderMetrics(state)).not.toContain("running");
    state.metricsMode = "labelled";
    expect(renderMetrics(state)).toContain(`${GAUGE.running}{node="0"} 0`);
  });

  test("a test's number wins", () => {
    const state = new EngineState();
    state.gaugeOverride.running = 7;
    expect(state.count("running")).toBe(7);
  });
});

test("queries that are left at shutdown are killed", async () => {
  const state = new EngineState();
  const query = state.accept("running");
  const idle = state.untilIdle();
  state.killQueries();
  expect(query.killed.aborted).toBe(true);
  query.done();
  await idle;
});

test("a test can end the queries that run, once", async () => {
  const state = new EngineState();
  const [first, second] = [state.accept("running"), state.accept("suspended")];
  state.finishQueries();
  await Promise.all([first.finished, second.finished]);
  const later = state.accept("running");
  expect(await Promise.race([later.finished.then(() => "finished"), nextTurn("runs")])).toBe("runs");
});

test("responses are held until the release, and no longer", async () => {
  const state = new EngineState();
  await state.untilReleased();
  state.setHeld(true);
  let released = 0;
  const waits = [1, 2].map(async () => {
    await state.untilReleased();
    released += 1;
  });
  state.setHeld(true);
  await nextTurn();
  expect(released).toBe(0);
  state.setHeld(false);
  await Promise.all(waits);
  await state.untilReleased();
});

test.each([
  { sql: "SELECT 42", want: { type: "query", sql: "SELECT 42" } },
  { sql: "SELECT sleep(10)", want: { type: "wait", kind: "running", durationMs: 10 } },
  { sql: "SELECT suspend(10)", want: { type: "wait", kind: "suspended", durationMs: 10 } },
  { sql: "SELECT whoami()", want: { type: "whoami" } },
  { sql: "INSERT marker('a-1') /* padding */", want: { type: "marker", id: "a-1" } },
  { sql: "SELECT blob(5)", want: { type: "blob", sizeBytes: 5 } },
  { sql: "SELECT fail()", want: { type: "fail" } },
  { sql: "SELECT sleep(1), 2", want: { type: "query", sql: "SELECT sleep(1), 2" } },
])("statement $sql", ({ sql, want }) => {
  expect(parseStatement(sql)).toEqual(want);
});
