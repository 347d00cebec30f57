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
} from "../../../test/engine/support/fixtures.ts";
import { computeEngine } from "./compute-engine.ts";

test("initialise: a new engine is written down before anything else", () => {
  const decision = compute(engine(), { current: absentSet(0), routing: { type: "absent" } });
  expect(decision).toMatchObject({ type: "initialise", step: "initialise", status: status("creating", 0, -1) });
  expect(decision).toMatchObject({
    status: { conditions: [{ type: "Ready", status: "False", reason: "Initializing" }] },
  });
});

test("numbers-never-reused: an empty phase beside counters that moved is not counted from zero again", () => {
  expect(compute(at("", [3, 3]))).toMatchObject({ step: "unknown-phase", status: status("stable", 3, 3) });
});

test.each([
  [[2, 2], "stable"],
  [[2, 1], "creating"],
  [[0, -1], "creating"],
] as const)("unknown-phase: an unknown phase with generations %j → %s, nothing else touched", (generations, phase) => {
  expect(compute(at("weird", generations))).toMatchObject({
    step: "unknown-phase",
    status: status(phase, generations[0], generations[1]),
    ensure: {},
  });
});

test("rollout-ends-without-instance, instance-deleted-while-draining, class-removed-while-draining: the ungated phases go on without instance and class", () => {
  const gone = { instance: undefined, engineClass: { type: "missing", name: "c" } } as const;
  expect(compute(at("switching", [1, 0]), gone)).toMatchObject({ step: "switch-service" });
  expect(compute(at("draining", [1, 1, 0]), { ...gone, drainProbe: { type: "drained" } })).toMatchObject({
    step: "drained",
  });
  expect(compute(at("cleaning", [1, 1, 0]), gone)).toMatchObject({ step: "clean" });
});

test("no-bump-mid-rollout, edited-while-draining: a spec that moved on starts nothing while switching, draining or cleaning", () => {
  const edited = { current: liveSet(engine({ spec: IMAGE }), 1), draining: liveSet(engine({ spec: IMAGE }), 0) };
  for (const [phase, generations] of [
    ["switching", [1, 0]],
    ["draining", [1, 1, 0]],
    ["cleaning", [1, 1, 0]],
  ] as const)
    expect(compute(at(phase, generations), edited)).toMatchObject({ status: { currentGeneration: 1 } });
});

test("same-view-same-decision: the same snapshot gives the same decision", () => {
  const s = snapshot(at("stable", [1, 1]));
  expect(computeEngine(s)).toEqual(computeEngine(s));
});
