import { expect, test } from "vitest";
import {
  absentSet,
  at,
  compute,
  engine,
  foreign,
  IMAGE,
  liveSet,
  routingTo,
  status,
  terminating,
} from "../../../../test/engine/support/fixtures.ts";
import type { EngineSnapshot } from "../../model/snapshot.ts";

test.each([
  ["current ahead of active", [2, 1]],
  ["nothing active", [0, -1]],
] as const)("contradiction-at-rest: at rest with %s is a defect", (_, generations) => {
  expect(compute(at("stable", generations))).toMatchObject({ type: "broken", step: "contradiction-at-rest" });
});

test.each([
  ["stateful-set-deleted: the StatefulSet is gone", absentSet(1), "statefulSet"],
  [
    "serving-set-terminating: the StatefulSet is terminating",
    { ...liveSet(engine(), 1), statefulSet: terminating(liveSet(engine(), 1).statefulSet) },
    "metadata.deletionTimestamp",
  ],
  [
    "the StatefulSet is somebody else's",
    { ...liveSet(engine(), 1), statefulSet: foreign(liveSet(engine(), 1).statefulSet) },
    "metadata.ownerReferences",
  ],
  ["image-changed: the image differs", liveSet(engine({ spec: IMAGE }), 1), "spec.template.spec.containers"],
  ["scaled-up: the replicas differ", liveSet(engine({ spec: { replicas: 4 } }), 1), "spec.replicas"],
] as const)("bump, number-before-objects: %s → creating with the next number and no objects", (_, current, path) => {
  for (const phase of ["stable", "stopped"]) {
    const decision = compute(at(phase, [1, 1]), { current });
    expect(decision).toMatchObject({ type: "bump", step: "bump", status: status("creating", 2, 1) });
    expect(decision.type === "bump" && decision.cause.path).toContain(path);
    expect(decision).not.toHaveProperty("ensure");
    expect(decision).not.toHaveProperty("remove");
  }
});

test("verify, observed-only-when-verified: a matching generation rests, and observedGeneration names the spec", () => {
  const of = at("stable", [1, 1]);
  const decision = compute({ ...of, metadata: { ...of.metadata, generation: 9 } });
  expect(decision).toMatchObject({ type: "hold", step: "verify", ensure: {}, recheck: { afterMs: 240_000 } });
  expect(decision).toMatchObject({ status: { ...status("stable", 1, 1), observedGeneration: 9 } });
});

test("verify: pods that are not ready are requeued soon, because the cause is in Events, which are not watched", () => {
  const decision = compute(at("stable", [1, 1]), { pods: { wanted: 2, total: 2, ready: 1, allReady: false } });
  expect(decision).toMatchObject({ step: "verify", recheck: { afterMs: 30_000 } });
});

test("verify: a stopped engine has nothing to wait for", () => {
  const of = at("stopped", [1, 1], { replicas: 0 });
  expect(compute(of, { current: liveSet(of, 1) })).toMatchObject({ step: "verify", recheck: { afterMs: 240_000 } });
});

test.each([
  ["stable", 0, "stopped"],
  ["stopped", 2, "stable"],
] as const)("verify: a phase named early is corrected, %s with %i replicas → %s", (phase, replicas, want) => {
  const of = at(phase, [1, 1], { replicas });
  expect(compute(of, { current: liveSet(of, 1) })).toMatchObject({ step: "verify", status: { phase: want } });
});

test("verify, config-map-deleted, headless-service-deleted: a missing ConfigMap or headless Service is put back at the same generation", () => {
  const set = liveSet(engine(), 1);
  const decision = compute(at("stable", [1, 1]), {
    current: { ...set, configMap: { type: "absent" }, headlessService: { type: "absent" } },
  });
  expect(decision).toMatchObject({
    step: "verify",
    ensure: {
      configMap: { object: { metadata: { name: "e-g1-config" } }, exists: false },
      headlessService: { object: { metadata: { name: "e-g1-hl" } }, exists: false },
    },
  });
  expect(decision).not.toHaveProperty("ensure.statefulSet");
});

test("verify: a ConfigMap edited by hand is left", () => {
  const set = liveSet(engine(), 1);
  const configMap = set.configMap.type === "live" ? { ...set.configMap.object, data: { "config.yaml": "edited" } } : {};
  const decision = compute(at("stable", [1, 1]), {
    current: { ...set, configMap: { type: "live", object: configMap } },
  });
  expect(decision).toMatchObject({ step: "verify", ensure: {} });
});

test.each([
  ["routing-service-edited: another number", routingTo(0)],
  ["routing-service-edited: no number", { ...routingTo(1), target: -1 } as EngineSnapshot["routing"]],
  ["missing", { type: "absent" }],
] as const)(
  "verify, ready-only-when-serving: a routing Service that is wrong (%s) is routed back to active, and Ready waits for it",
  (_, routing) => {
    const decision = compute(at("stable", [1, 1]), { routing });
    expect(decision).toMatchObject({ step: "verify", ensure: { routing: { generation: 1 } }, recheck: "requeue" });
    expect(decision).toMatchObject({
      status: { conditions: [{}, { type: "Ready", status: "False", reason: "PodsNotReady" }] },
    });
  },
);

test("verify: a routing Service that lost a port is repaired", () => {
  const right = routingTo(1);
  const service = right.type === "live" ? { ...right.service, spec: { ...right.service.spec, ports: [] } } : {};
  const decision = compute(at("stable", [1, 1]), { routing: { type: "live", service, target: 1 } });
  expect(decision).toMatchObject({ step: "verify", ensure: { routing: { generation: 1 } } });
});
