import { describe, expect, test } from "vitest";
import {
  at,
  compute,
  engine,
  foreign,
  IMAGE,
  liveSet,
  NOW_MS,
  routingTo,
  status,
  terminating,
} from "../../../test/support/engine-fixtures.ts";
import { timeText } from "../../api/condition-list.ts";

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
  expect(
    compute(at("draining", [1, 1, 0]), { drainProbe, drain: { required: true, intervalMs: 1234, settleMs: 0 } }),
  ).toMatchObject({
    type: "hold",
    row: "T17",
    status: status("draining", 1, 1, 0),
    recheck: { afterMs: 1234 },
  });
});

test.each([
  ["drained", { drainProbe: { type: "drained" } }],
  [
    "S18: no longer required",
    { drain: { required: false, intervalMs: 1, settleMs: 0 }, drainProbe: { type: "notAsked" } },
  ],
] as const)("T18: %s → cleaning, nothing deleted yet (I22)", (_, changes) => {
  const decision = compute(at("draining", [1, 1, 0]), changes);
  expect(decision).toMatchObject({ type: "move", row: "T18", status: status("cleaning", 1, 1, 0), ensure: {} });
  expect(decision).not.toHaveProperty("remove");
});

test.each([
  ["T17", "draining", { type: "busy", pod: "p", queries: 1 }],
  ["T18", "draining", { type: "drained" }],
  ["T20", "cleaning", { type: "notAsked" }],
] as const)("%s, S30: a lost routing Service is put back on active meanwhile (I18)", (row, phase, drainProbe) => {
  expect(compute(at(phase, [1, 1, 0]), { drainProbe, routing: { type: "absent" } })).toMatchObject({
    row,
    ensure: { routing: { generation: 1 } },
  });
});

test.each([
  ["T17", "draining", { type: "busy", pod: "p", queries: 1 }],
  ["T17", "draining", { type: "drained" }],
  ["drain-again", "cleaning", { type: "notAsked" }],
] as const)(
  "%s: queries that go to the generation that would be deleted start its drain again",
  (row, phase, drainProbe) => {
    expect(compute(at(phase, [1, 1, 0]), { drainProbe, routing: routingTo(0) })).toMatchObject({
      row,
      status: { ...status("draining", 1, 1, 0), drainingSince: timeText(NOW_MS) },
      ensure: { routing: { generation: 1 } },
    });
  },
);

test("without a drain the Service is moved before anything is deleted", () => {
  const drain = { required: false, intervalMs: 1, settleMs: 0 };
  expect(compute(at("cleaning", [1, 1, 0]), { drain, routing: routingTo(0) })).toMatchObject({
    row: "T20",
    ensure: { routing: { generation: 1 } },
  });
});

test("a routing Service that cannot be moved holds up the deletion of the generation it selects", () => {
  const live = routingTo(0);
  if (live.type !== "live") throw new Error("no Service");
  expect(compute(at("cleaning", [1, 1, 0]), { routing: { ...live, type: "terminating" } })).toMatchObject({
    type: "hold",
    row: "routing-in-the-way",
    recheck: { afterMs: 5_000 },
  });
});

describe("taking a draining generation back", () => {
  const READY = { wanted: 2, total: 2, ready: 2, allReady: true };
  /** The spec has gone back to what generation 0 was made of; generation 1 is another image. */
  const reverted = { current: liveSet(engine({ spec: IMAGE }), 1), drainingPods: READY };

  test("the Service goes back, and the generation that was to replace it drains", () => {
    expect(compute(at("draining", [1, 1, 0]), reverted)).toMatchObject({
      type: "move",
      row: "take-back",
      ensure: { routing: { generation: 0 } },
      status: { ...status("draining", 0, 0, 1), highestGeneration: 1, drainingSince: timeText(NOW_MS) },
    });
  });

  test("and the other way round, when the edit comes back before that drain ends", () => {
    const back = at("draining", [0, 0, 1], IMAGE);
    const engineBack = {
      ...back,
      status: { currentGeneration: 0, activeGeneration: 0, ...back.status, highestGeneration: 1 },
    };
    const changes = {
      current: liveSet(engine(), 0),
      draining: liveSet(engine({ spec: IMAGE }), 1),
      drainingPods: READY,
      routing: routingTo(0),
    };
    const decision = compute(engineBack, changes);
    expect(decision).toMatchObject({ row: "take-back", status: status("draining", 1, 1, 0) });
    expect(decision).not.toHaveProperty("status.highestGeneration");
  });

  test.each([
    ["one of its pods is not ready", { ...reverted, drainingPods: { ...READY, ready: 1, allReady: false } }],
    ["it has no pods", { ...reverted, drainingPods: { wanted: 0, total: 0, ready: 0, allReady: true } }],
    ["the spec asks for something else", { ...reverted, draining: liveSet(engine({ spec: { replicas: 4 } }), 0) }],
    ["the serving one is what the spec asks for", { drainingPods: READY }],
    ["the instance is not usable", { ...reverted, instance: undefined }],
  ] as const)("not when %s", (_, changes) => {
    expect(compute(at("draining", [1, 1, 0]), { drainProbe: { type: "pending" }, ...changes })).toMatchObject({
      row: "T17",
      status: status("draining", 1, 1, 0),
    });
  });
});

test.each([
  ["settling", { type: "settling", untilMs: NOW_MS + 7_000 }, 7_000],
  ["pending", { type: "pending" }, 5_000],
] as const)("T17: while %s the drain goes on, and Ready stays as it is", (_, drainProbe, afterMs) => {
  const draining = at("draining", [1, 1, 0]);
  const decision = compute(draining, { drainProbe });
  expect(decision).toMatchObject({ row: "T17", status: status("draining", 1, 1, 0), recheck: { afterMs } });
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

test("I4: cleaning comes to rest without a draining generation, though the spec asks for something else by now", () => {
  const decision = compute(at("cleaning", [1, 1, 0], { replicas: 0 }), { current: liveSet(engine(), 1) });
  expect(decision).toMatchObject({ status: { phase: "stopped" } });
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
