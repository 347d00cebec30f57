import { expect, test } from "vitest";
import { at, compute, liveSet, NOT_READY, routingTo, status } from "../../../../test/engine/support/fixtures.ts";
import type { EngineSnapshot } from "../../model/snapshot.ts";

test("step-back, readiness-rechecked-at-switch, pods-lost-before-switch: pods lost before the flip → back to creating, the selector untouched", () => {
  expect(compute(at("switching", [1, 0]), { pods: NOT_READY })).toMatchObject({
    type: "move",
    step: "step-back",
    status: status("creating", 1, 0),
    ensure: {},
    recheck: { afterMs: 5_000 },
  });
});

test("switch-service: the selector moves alone, bound to the Service as it was seen", () => {
  const decision = compute(at("switching", [1, 0]));
  expect(decision).toMatchObject({
    type: "hold",
    step: "switch-service",
    status: status("switching", 1, 0),
    recheck: "requeue",
  });
  expect(decision).toMatchObject({
    ensure: { routing: { generation: 1, observed: { type: "live", service: { metadata: { resourceVersion: "5" } } } } },
  });
});

test("switch-service: a routing Service that is missing is created for the current generation", () => {
  expect(compute(at("switching", [1, 0]), { routing: { type: "absent" } })).toMatchObject({
    step: "switch-service",
    ensure: { routing: { generation: 1, observed: { type: "absent" } } },
  });
});

test.each(["foreign", "terminating"] as const)("switch-service: a %s routing Service stands in the way", (type) => {
  const { service } = routingTo(1) as Extract<EngineSnapshot["routing"], { type: "live" }>;
  const decision = compute(at("switching", [1, 0]), { routing: { type, service, target: 1 } });
  expect(decision).toMatchObject({
    step: "switch-service",
    ensure: { obstacle: { kind: "Service", name: "e-service" } },
  });
});

test.each([
  ["start-drain: graceful", true, "draining"],
  ["skip-drain, drain-skipped-directly, drain-check-off: no drain wanted", false, "cleaning"],
] as const)("%s → %s, bookkeeping only", (name, required, phase) => {
  expect(
    compute(at("switching", [1, 0]), { routing: routingTo(1), drain: { required, intervalMs: 1, settleMs: 0 } }),
  ).toMatchObject({
    type: "move",
    step: name.split(":")[0]?.split(", ")[0],
    status: status(phase, 1, 1, 0),
    ensure: {},
    recheck: "requeue",
  });
});

test.each([
  [2, "stable"],
  [0, "stopped"],
] as const)(
  "first-rest, created-from-nothing, created-with-zero-replicas: the first deploy with %i replicas ends %s, without a drain",
  (replicas, phase) => {
    const of = at("switching", [0, -1], { replicas });
    expect(compute(of, { current: liveSet(of, 0), routing: routingTo(0) })).toMatchObject({
      step: "first-rest",
      // The verification in the same write.
      status: { ...status(phase, 0, 0), observedGeneration: 1 },
      ensure: {},
    });
  },
);

test("start-drain, skip-drain, first-rest: pods do not matter: once flipped, the books follow", () => {
  expect(compute(at("switching", [1, 0]), { routing: routingTo(1), pods: NOT_READY })).toMatchObject({
    step: "start-drain",
  });
});

test("contradiction: switching behind the generation that serves is a defect", () => {
  expect(compute(at("switching", [1, 2]))).toMatchObject({ type: "broken", step: "contradiction" });
});
