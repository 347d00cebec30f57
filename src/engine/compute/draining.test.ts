import { expect, test } from "vitest";
import {
  at,
  compute,
  engine,
  foreign,
  IMAGE,
  liveSet,
  routingTo,
  status,
  terminating,
} from "../../../test/support/engine-fixtures.ts";

test.each(["draining", "cleaning"])("T16: %s with nothing to drain comes to rest", (phase) => {
  expect(compute(at(phase, [1, 1]))).toMatchObject({ row: "T16", status: status("stable", 1, 1), ensure: {} });
});

test("T16 with counters that disagree is a defect", () => {
  expect(compute(at("draining", [2, 1]))).toMatchObject({ type: "broken" });
});

test.each([
  ["S13: a pod is busy", { type: "busy", pod: "e-g0-0", queries: 1 }],
  ["S15: the probe fails", { type: "failing", pod: "e-g0-0", cause: "refused" }],
  ["I21: nobody asked", { type: "notAsked" }],
] as const)("T17: %s → the drain goes on, at its interval", (_, drainProbe) => {
  expect(compute(at("draining", [1, 1, 0]), { drainProbe, drain: { required: true, intervalMs: 1234 } })).toMatchObject(
    {
      type: "hold",
      row: "T17",
      status: status("draining", 1, 1, 0),
      recheck: { afterMs: 1234 },
    },
  );
});

test.each([
  ["drained", { drainProbe: { type: "drained" } }],
  ["S18: no longer required", { drain: { required: false, intervalMs: 1 }, drainProbe: { type: "notAsked" } }],
] as const)("T18: %s → cleaning, nothing deleted yet (I22)", (_, changes) => {
  const decision = compute(at("draining", [1, 1, 0]), changes);
  expect(decision).toMatchObject({ type: "move", row: "T18", status: status("cleaning", 1, 1, 0), ensure: {} });
  expect(decision).not.toHaveProperty("remove");
});

test.each([
  ["T17", "draining", { type: "busy", pod: "p", queries: 1 }],
  ["T18", "draining", { type: "drained" }],
  ["T20", "cleaning", { type: "notAsked" }],
] as const)("%s, S30: a lost routing Service goes back to active meanwhile (I18)", (row, phase, drainProbe) => {
  for (const routing of [{ type: "absent" }, routingTo(0)] as const)
    expect(compute(at(phase, [1, 1, 0]), { drainProbe, routing })).toMatchObject({
      row,
      ensure: { routing: { generation: 1 } },
    });
});

test("T20: deletes the old set in order and comes to rest", () => {
  const decision = compute(at("cleaning", [1, 1, 0]));
  expect(decision).toMatchObject({
    type: "clean",
    row: "T20",
    // The verification of T6 in the same write.
    status: { ...status("stable", 1, 1), observedGeneration: 1 },
    ensure: {},
  });
  expect(decision.type === "clean" && decision.remove).toEqual([
    { kind: "StatefulSet", name: "e-g0", uid: "e-g0-uid" },
    { kind: "Service", name: "e-g0-hl", uid: "e-g0-hl-uid" },
    { kind: "ConfigMap", name: "e-g0-config", uid: "e-g0-config-uid" },
  ]);
  expect(decision).not.toHaveProperty("status.drainingGeneration");
});

test("T20: replicas edited to zero meanwhile name the phase one pass early", () => {
  const current = liveSet(engine(), 1);
  expect(compute(at("cleaning", [1, 1, 0], { replicas: 0 }), { current })).toMatchObject({
    row: "T20",
    status: { phase: "stopped" },
  });
});

test.each([
  ["the spec has moved on (I7, I23)", { current: liveSet(engine({ spec: IMAGE }), 1) }],
  ["something is missing", { current: { ...liveSet(engine(), 1), configMap: { type: "absent" } } }],
  ["queries do not arrive", { routing: routingTo(0) }],
  ["the instance is gone (I38)", { instance: undefined }],
  ["the class is gone (I38)", { engineClass: { type: "missing", name: "c" } }],
] as const)("T20 leaves the verification to a pass of its own when %s (I10)", (_, changes) => {
  const decision = compute(at("cleaning", [1, 1, 0]), changes);
  expect(decision).toMatchObject({ row: "T20", status: status("stable", 1, 1) });
  expect(decision).not.toHaveProperty("status.observedGeneration");
});

test.each(["draining", "cleaning"])("I5: %s a generation that serves is a defect, not a delete", (phase) => {
  for (const generations of [
    [1, 1, 1],
    [2, 1, 0],
    [1, 1, 3],
  ])
    expect(compute(at(phase, generations))).toMatchObject({ type: "broken" });
});

test("T20, S43, B16: what is gone, terminating or foreign is not deleted", () => {
  const set = liveSet(engine(), 0);
  const draining = {
    ...set,
    statefulSet: terminating(set.statefulSet),
    headlessService: foreign(set.headlessService),
    configMap: { type: "absent" },
  } as const;
  expect(compute(at("cleaning", [1, 1, 0]), { draining })).toMatchObject({ row: "T20", remove: [] });
});
