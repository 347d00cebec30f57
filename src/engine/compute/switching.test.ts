import { expect, test } from "vitest";
import { at, compute, liveSet, NOT_READY, routingTo, status } from "../../../test/support/engine-fixtures.ts";
import type { EngineSnapshot } from "../snapshot.ts";

test("T11, D16, S31: pods lost before the flip → back to creating, the selector untouched", () => {
  expect(compute(at("switching", [1, 0]), { pods: NOT_READY })).toMatchObject({
    type: "move",
    row: "T11",
    status: status("creating", 1, 0),
    ensure: {},
    recheck: { afterMs: 5_000 },
  });
});

test("T12: the selector moves alone, bound to the Service as it was seen", () => {
  const decision = compute(at("switching", [1, 0]));
  expect(decision).toMatchObject({ type: "hold", row: "T12", status: status("switching", 1, 0), recheck: "now" });
  expect(decision).toMatchObject({
    ensure: { routing: { generation: 1, observed: { type: "live", service: { metadata: { resourceVersion: "5" } } } } },
  });
});

test("T12: a routing Service that is missing is created for the current generation", () => {
  expect(compute(at("switching", [1, 0]), { routing: { type: "absent" } })).toMatchObject({
    row: "T12",
    ensure: { routing: { generation: 1, observed: { type: "absent" } } },
  });
});

test.each(["foreign", "terminating"] as const)("T12: a %s routing Service stands in the way", (type) => {
  const { service } = routingTo(1) as Extract<EngineSnapshot["routing"], { type: "live" }>;
  const decision = compute(at("switching", [1, 0]), { routing: { type, service, target: 1 } });
  expect(decision).toMatchObject({ row: "T12", ensure: { obstacle: { kind: "Service", name: "e-service" } } });
});

test.each([
  ["T13: graceful", true, "draining"],
  ["T14, D2, S19: no drain wanted", false, "cleaning"],
] as const)("%s → %s, bookkeeping only", (name, required, phase) => {
  expect(
    compute(at("switching", [1, 0]), { routing: routingTo(1), drain: { required, intervalMs: 1, settleMs: 0 } }),
  ).toMatchObject({
    type: "move",
    row: name.slice(0, 3),
    status: status(phase, 1, 1, 0),
    ensure: {},
    recheck: "now",
  });
});

test.each([
  [2, "stable"],
  [0, "stopped"],
] as const)("T15, S1, S2: the first deploy with %i replicas ends %s, without a drain", (replicas, phase) => {
  const of = at("switching", [0, -1], { replicas });
  expect(compute(of, { current: liveSet(of, 0), routing: routingTo(0) })).toMatchObject({
    row: "T15",
    // The verification of T6 in the same write.
    status: { ...status(phase, 0, 0), observedGeneration: 1 },
    ensure: {},
  });
});

test("T13–T15 do not look at pods: once flipped, the books follow", () => {
  expect(compute(at("switching", [1, 0]), { routing: routingTo(1), pods: NOT_READY })).toMatchObject({ row: "T13" });
});
