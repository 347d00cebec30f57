import { expect, test } from "vitest";
import { instanceReady, NOT_READY, READY, routingTo } from "../../../test/engine/support/fixtures.ts";
import { type ReadyInput, readyVerdict } from "./ready.ts";

const failing = { type: "failing", pod: "e-g0-1", cause: "status 503" } as const;
const calm: ReadyInput = {
  phase: "stable",
  generations: { current: 1, active: 1, draining: undefined, highest: 1 },
  before: undefined,
  settledAt: undefined,
  instanceReady,
  pods: READY,
  routing: routingTo(1),
  drainProbe: { type: "notProbed" },
};
const drained = { current: 1, active: 1, draining: 0 };

test.each([
  [
    "rank 1: no InstanceReady",
    { instanceReady: undefined, phase: "draining", drainProbe: failing },
    "InstanceNotReady",
    "",
  ],
  [
    "rank 1: InstanceReady False wins over everything",
    { instanceReady: { ...instanceReady, status: "False", message: "why" }, phase: "stopped" },
    "InstanceNotReady",
    "why",
  ],
  [
    "drain-with-silent-pod: rank 2: a failing probe",
    { phase: "draining", generations: drained, drainProbe: failing },
    "DrainCheckFailing",
    "generation 0 is failing: pod e-g0-1: status 503",
  ],
  [
    "stopped-by-hand: rank 3: stopped",
    { phase: "stopped", pods: NOT_READY },
    "Stopped",
    "Engine is stopped (spec.replicas is 0)",
  ],
  ["rank 4: creating", { phase: "creating" }, "Rolling", "creating"],
  ["rank 4: switching", { phase: "switching" }, "Rolling", "switching"],
  [
    "rank 4: draining, the probe succeeds",
    { phase: "draining", generations: drained, drainProbe: { type: "busy", pod: "p", queries: 1 } },
    "Rolling",
    "(phase draining): generation 0 still runs queries",
  ],
  [
    "rank 4: draining, within the settle time",
    { phase: "draining", generations: drained, drainProbe: { type: "settling" }, settledAt: "2026-01-01T00:00:35Z" },
    "Rolling",
    "(phase draining): generation 0 is kept until 2026-01-01T00:00:35Z at the latest for clients with a cached address, and longer while it runs queries",
  ],
  [
    "rank 4: cleaning, whatever the last probe reported",
    { phase: "cleaning", drainProbe: failing },
    "Rolling",
    "cleaning",
  ],
  ["one-pod-not-ready: rank 5: pods missing", { pods: NOT_READY }, "PodsNotReady", "Generation 1: 1 of 2 pods ready"],
  [
    "rank 5: pods not created",
    { pods: { wanted: 3, total: 1, ready: 1, allReady: false } },
    "PodsNotReady",
    "Generation 1: 1 of 1 pods ready (3 wanted)",
  ],
  [
    "ready-only-when-serving: rank 5: the selector is elsewhere",
    { routing: routingTo(0) },
    "PodsNotReady",
    "does not select it",
  ],
  [
    "ready-only-when-serving: rank 5: the routing Service is gone",
    { routing: { type: "absent" } },
    "PodsNotReady",
    "missing",
  ],
] as const)("%s", (_, changes, reason, message) => {
  const verdict = readyVerdict({ ...calm, ...(changes as Partial<ReadyInput>) });
  expect(verdict).toMatchObject({ type: "Ready", status: "False", reason });
  expect(verdict.message).toContain(message);
});

test("rank 3: the message of a stopped engine is exact", () => {
  expect(readyVerdict({ ...calm, phase: "stopped" }).message).toBe("Engine is stopped (spec.replicas is 0)");
});

test("rank 6: everything in place", () => {
  expect(readyVerdict(calm)).toEqual({
    type: "Ready",
    status: "True",
    reason: "EngineReady",
    message: "Generation 1 is serving",
  });
});
