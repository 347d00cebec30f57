import { expect, test } from "vitest";
import {
  absentSet,
  at,
  compute,
  engine,
  IMAGE,
  liveSet,
  snapshot,
  status,
} from "../../../test/support/engine-fixtures.ts";
import { computeEngine } from "./compute-engine.ts";

test("T1: a new engine is written down before anything else", () => {
  const decision = compute(engine(), { current: absentSet(0), routing: { type: "absent" } });
  expect(decision).toMatchObject({ type: "initialise", row: "T1", status: status("creating", 0, -1) });
  expect(decision).toMatchObject({
    status: { conditions: [{ type: "Ready", status: "False", reason: "Initializing" }] },
  });
});

test("an empty phase beside counters that moved is not counted from zero again (I2)", () => {
  expect(compute(at("", [3, 3]))).toMatchObject({ row: "T21", status: status("stable", 3, 3) });
});

test.each([
  [[2, 2], "stable"],
  [[2, 1], "creating"],
  [[0, -1], "creating"],
] as const)("T21: an unknown phase with generations %j → %s, nothing else touched", (generations, phase) => {
  expect(compute(at("weird", generations))).toMatchObject({
    row: "T21",
    status: status(phase, generations[0], generations[1]),
    ensure: {},
  });
});

test("I38, S21, S22: the ungated phases go on without instance and class", () => {
  const gone = { instance: undefined, engineClass: { type: "missing", name: "c" } } as const;
  expect(compute(at("switching", [1, 0]), gone)).toMatchObject({ row: "T12" });
  expect(compute(at("draining", [1, 1, 0]), { ...gone, drainProbe: { type: "drained" } })).toMatchObject({
    row: "T18",
  });
  expect(compute(at("cleaning", [1, 1, 0]), gone)).toMatchObject({ row: "T20" });
});

test("I7, S12: a spec that moved on starts nothing while switching, draining or cleaning", () => {
  const edited = { current: liveSet(engine({ spec: IMAGE }), 1), draining: liveSet(engine({ spec: IMAGE }), 0) };
  for (const [phase, generations] of [
    ["switching", [1, 0]],
    ["draining", [1, 1, 0]],
    ["cleaning", [1, 1, 0]],
  ] as const)
    expect(compute(at(phase, generations), edited)).toMatchObject({ status: { currentGeneration: 1 } });
});

test("I30: the same snapshot gives the same decision", () => {
  const s = snapshot(at("stable", [1, 1]));
  expect(computeEngine(s)).toEqual(computeEngine(s));
});
