import { describe, expect, test } from "vitest";
import {
  absentSet,
  at,
  compute,
  engine,
  foreign,
  IMAGE,
  liveSet,
  NOW_MS,
  removedParts,
  routingTo,
  status,
  terminating,
} from "../../../../test/engine/support/fixtures.ts";
import { timeText } from "../../../api/condition-list.ts";

test.each(["draining", "cleaning"])("nothing-to-drain: %s with nothing to drain comes to rest", (phase) => {
  expect(compute(at(phase, [1, 1]))).toMatchObject({
    step: "nothing-to-drain",
    status: status("stable", 1, 1),
    ensure: {},
  });
});

test("contradiction: nothing to drain, and counters that disagree, is a defect", () => {
  expect(compute(at("draining", [2, 1]))).toMatchObject({ type: "broken", step: "contradiction" });
});

test.each([
  ["drain-with-busy-pod: a pod is busy", { type: "busy", pod: "e-g0-0", queries: 1 }],
  ["drain-with-silent-pod: the probe fails", { type: "failing", pod: "e-g0-0", cause: "refused" }],
  ["silence-is-not-idle: nobody asked", { type: "notProbed" }],
] as const)("drain-wait, failed-probe-keeps-draining: %s → the drain continues, at its interval", (_, drainProbe) => {
  expect(
    compute(at("draining", [1, 1, 0]), { drainProbe, drain: { required: true, intervalMs: 1234, settleMs: 0 } }),
  ).toMatchObject({
    type: "hold",
    step: "drain-wait",
    status: status("draining", 1, 1, 0),
    recheck: { afterMs: 1234 },
  });
});

test.each([
  ["drained", { drainProbe: { type: "drained" } }],
  [
    "stuck-drain-released: no longer required",
    { drain: { required: false, intervalMs: 1, settleMs: 0 }, drainProbe: { type: "notProbed" } },
  ],
] as const)("drained, draining-kept-until-cleaning: %s → cleaning, nothing deleted yet", (_, changes) => {
  const decision = compute(at("draining", [1, 1, 0]), changes);
  expect(decision).toMatchObject({ type: "move", step: "drained", status: status("cleaning", 1, 1, 0), ensure: {} });
  expect(decision).not.toHaveProperty("remove");
});

test.each([
  ["drain-wait", "draining", { type: "busy", pod: "p", queries: 1 }],
  ["drained", "draining", { type: "drained" }],
  ["clean", "cleaning", { type: "notProbed" }],
] as const)(
  "%s, routing-service-deleted-while-draining, routing-repaired-at-once: a lost routing Service is put back on active meanwhile",
  (step, phase, drainProbe) => {
    expect(compute(at(phase, [1, 1, 0]), { drainProbe, routing: { type: "absent" } })).toMatchObject({
      step,
      ensure: { routing: { generation: 1 } },
    });
  },
);

test.each([
  ["drain-wait", "draining", { type: "busy", pod: "p", queries: 1 }],
  ["drain-wait", "draining", { type: "drained" }],
  ["drain-again", "cleaning", { type: "notProbed" }],
] as const)(
  "%s: queries that go to the generation that would be deleted start its drain again",
  (step, phase, drainProbe) => {
    expect(compute(at(phase, [1, 1, 0]), { drainProbe, routing: routingTo(0) })).toMatchObject({
      step,
      status: { ...status("draining", 1, 1, 0), drainingSince: timeText(NOW_MS) },
      ensure: { routing: { generation: 1 } },
    });
  },
);

test("without a drain the Service is moved before anything is deleted", () => {
  const drain = { required: false, intervalMs: 1, settleMs: 0 };
  expect(compute(at("cleaning", [1, 1, 0]), { drain, routing: routingTo(0) })).toMatchObject({
    step: "clean",
    ensure: { routing: { generation: 1 } },
  });
});

test("a routing Service that cannot be moved holds up the deletion of the generation it selects", () => {
  const live = routingTo(0);
  if (live.type !== "live") throw new Error("no Service");
  expect(compute(at("cleaning", [1, 1, 0]), { routing: { ...live, type: "terminating" } })).toMatchObject({
    type: "hold",
    step: "routing-in-the-way",
    recheck: { afterMs: 5_000 },
  });
});

describe("taking a draining generation back", () => {
  const READY = { wanted: 2, total: 2, ready: 2, allReady: true };
  /** The spec has gone back to what generation 0 was made of; generation 1 is another image. */
  const reverted = { current: liveSet(engine({ spec: IMAGE }), 1), drainingPods: READY };

  test("the Service is routed back, and the generation that was to replace it drains", () => {
    expect(compute(at("draining", [1, 1, 0]), reverted)).toMatchObject({
      type: "move",
      step: "switch-back",
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
    expect(decision).toMatchObject({ step: "switch-back", status: status("draining", 1, 1, 0) });
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
      step: "drain-wait",
      status: status("draining", 1, 1, 0),
    });
  });
});

test.each([
  ["settling", { type: "settling", untilMs: NOW_MS + 7_000 }, 7_000],
  ["pending", { type: "pending" }, 5_000],
] as const)("drain-wait: while %s the drain continues, and Ready stays as it is", (_, drainProbe, afterMs) => {
  const draining = at("draining", [1, 1, 0]);
  const decision = compute(draining, { drainProbe });
  expect(decision).toMatchObject({ step: "drain-wait", status: status("draining", 1, 1, 0), recheck: { afterMs } });
});

test("clean: deletes the old set in order and comes to rest", () => {
  const decision = compute(at("cleaning", [1, 1, 0]));
  expect(decision).toMatchObject({
    type: "clean",
    step: "clean",
    // The verification in the same write.
    status: { ...status("stable", 1, 1), observedGeneration: 1 },
    ensure: {},
  });
  expect(decision.type === "clean" && decision.remove).toEqual([
    { kind: "StatefulSet", name: "e-g0", uid: "e-g0-uid" },
    ...removedParts(0).map(({ kind, name }) => ({ kind, name, uid: `${name}-uid` })),
  ]);
  expect(decision).not.toHaveProperty("status.drainingGeneration");
});

test("one-generation-at-rest: cleaning comes to rest without a draining generation, though the spec has changed by now", () => {
  const decision = compute(at("cleaning", [1, 1, 0], { replicas: 0 }), { current: liveSet(engine(), 1) });
  expect(decision).toMatchObject({ status: { phase: "stopped" } });
  expect(decision).not.toHaveProperty("status.drainingGeneration");
});

test("clean: replicas edited to zero meanwhile name the phase one pass early", () => {
  const current = liveSet(engine(), 1);
  expect(compute(at("cleaning", [1, 1, 0], { replicas: 0 }), { current })).toMatchObject({
    step: "clean",
    status: { phase: "stopped" },
  });
});

test.each([
  [
    "no-bump-mid-rollout, one-rollout-at-a-time: the spec has moved on",
    { current: liveSet(engine({ spec: IMAGE }), 1) },
  ],
  ["something is missing", { current: { ...liveSet(engine(), 1), configMap: { type: "absent" } } }],
  ["rollout-ends-without-instance: the instance is gone", { instance: undefined }],
  ["rollout-ends-without-instance: the class is gone", { engineClass: { type: "missing", name: "c" } }],
] as const)(
  "clean, observed-only-when-verified: leaves the verification to a pass of its own when %s",
  (_, changes) => {
    const decision = compute(at("cleaning", [1, 1, 0]), changes);
    expect(decision).toMatchObject({ step: "clean", status: status("stable", 1, 1) });
    expect(decision).not.toHaveProperty("status.observedGeneration");
  },
);

test.each(["draining", "cleaning"])(
  "draining-only-after-switch: %s a generation that serves is a defect, not a delete",
  (phase) => {
    for (const generations of [
      [1, 1, 1],
      [2, 1, 0],
      [1, 1, 3],
    ])
      expect(compute(at(phase, generations))).toMatchObject({ type: "broken", step: "contradiction" });
  },
);

test("clean, killed-while-cleaning, after-clean-deletes: an object that is missing, terminating or foreign is not deleted", () => {
  const set = liveSet(engine(), 0);
  const draining = {
    ...absentSet(0),
    statefulSet: terminating(set.statefulSet),
    headlessService: foreign(set.headlessService),
  } as const;
  expect(compute(at("cleaning", [1, 1, 0]), { draining })).toMatchObject({ step: "clean", remove: [] });
});
