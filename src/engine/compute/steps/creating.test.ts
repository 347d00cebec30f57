import { expect, test } from "vitest";
import {
  absentSet,
  at,
  compute,
  engine,
  foreign,
  IMAGE,
  liveSet,
  NOT_READY,
  NOW_MS,
  READY,
  removedParts,
  routingTo,
  status,
  terminating,
} from "../../../../test/engine/support/fixtures.ts";

const PART_KINDS = removedParts(1).map(({ kind }) => kind);

test.each([
  ["first deploy: the Service names the generation to come", [0, -1], 0],
  [
    "lost-service-names-active, routing-service-deleted-while-creating: a later one: the Service keeps naming the active generation",
    [1, 0],
    0,
  ],
] as const)("build: builds the set and a missing routing Service; %s", (_, generations, target) => {
  const decision = compute(at("creating", generations), {
    current: absentSet(generations[0]),
    pods: { wanted: 2, total: 0, ready: 0, allReady: false },
    routing: { type: "absent" },
  });
  expect(decision).toMatchObject({
    type: "hold",
    step: "build",
    status: status("creating", generations[0], generations[1]),
    ensure: { configMap: {}, headlessService: {}, statefulSet: {}, routing: { generation: target } },
    recheck: { afterMs: 5_000 },
  });
});

test("build, same-name-again: a name that another owner holds is an obstacle, not a target", () => {
  const set = liveSet(engine(), 0);
  const decision = compute(at("creating", [0, -1]), {
    current: { ...absentSet(0), configMap: foreign(set.configMap), statefulSet: foreign(set.statefulSet) },
    pods: NOT_READY,
  });
  expect(decision).toMatchObject({ step: "build", ensure: { obstacle: { kind: "ConfigMap", name: "e-g0-config" } } });
});

test.each([
  ["edited-while-creating: the spec moved on", liveSet(engine({ spec: IMAGE }), 1), ["StatefulSet", ...PART_KINDS]],
  [
    "after-abandoned-set-delete: the StatefulSet is terminating",
    { ...liveSet(engine(), 1), statefulSet: terminating(liveSet(engine(), 1).statefulSet) },
    PART_KINDS,
  ],
] as const)("abandon: %s → the set is given up, the number is not reused, nothing is created", (_, current, kinds) => {
  const decision = compute(at("creating", [1, 0]), { current, pods: READY, routing: routingTo(0) });
  expect(decision).toMatchObject({ type: "abandon", step: "abandon", generation: 1, status: status("creating", 2, 0) });
  expect(decision.type === "abandon" && decision.remove.map(({ kind }) => kind)).toEqual(kinds);
  expect(decision).not.toHaveProperty("ensure");
  expect(decision).not.toHaveProperty("routing");
});

test("abandon, traffic-on-doomed-generation: traffic that already selects the doomed generation is routed back to active first", () => {
  const decision = compute(at("creating", [1, 0]), {
    current: liveSet(engine({ spec: IMAGE }), 1),
    routing: routingTo(1),
  });
  expect(decision).toMatchObject({ step: "abandon", routing: { generation: 0 } });
});

test("abandon, edited-before-first-switch: before the first cut-over the Service keeps its number", () => {
  const decision = compute(at("creating", [0, -1]), {
    current: liveSet(engine({ spec: IMAGE }), 0),
    routing: routingTo(0),
  });
  expect(decision).toMatchObject({ step: "abandon", status: status("creating", 1, -1) });
  expect(decision).not.toHaveProperty("routing");
});

test("abandon: the delete of the StatefulSet is bound to the version that was judged", () => {
  const decision = compute(at("creating", [1, 0]), { current: liveSet(engine({ spec: IMAGE }), 1) });
  expect(decision.type === "abandon" && decision.remove[0]).toEqual({
    kind: "StatefulSet",
    name: "e-g1",
    uid: "e-g1-uid",
    resourceVersion: "7",
  });
});

test("serving-never-deleted: a creating engine whose status calls the current generation active never deletes it", () => {
  const decision = compute(at("creating", [1, 1]), { current: liveSet(engine({ spec: IMAGE }), 1) });
  expect(decision).toMatchObject({ step: "abandon", remove: [] });
});

test("await-pods: waits for pods and writes nothing that is already right", () => {
  const decision = compute(at("creating", [1, 0]), { pods: NOT_READY });
  expect(decision).toMatchObject({ type: "hold", step: "await-pods", ensure: {} });
});

test.each([
  [0, 5_000],
  [8, 5_000],
  [24, 12_000],
  [3_600, 30_000],
  [-60, 5_000],
])("await-pods: a StatefulSet that is %i s old is requeued after %i ms", (ageSeconds, afterMs) => {
  const creationTimestamp = new Date(NOW_MS - ageSeconds * 1_000).toISOString();
  const set = liveSet(engine(), 1);
  if (set.statefulSet.type !== "live") throw new Error("the fixture has no live StatefulSet");
  const { object } = set.statefulSet;
  const statefulSet = {
    ...set.statefulSet,
    object: { ...object, metadata: { ...object.metadata, creationTimestamp } },
  };
  const decision = compute(at("creating", [1, 0]), { pods: NOT_READY, current: { ...set, statefulSet } });
  expect(decision).toMatchObject({ step: "await-pods", recheck: { afterMs } });
});

test("await-pods: an edited ConfigMap is restored while creating, taking the field over", () => {
  const set = liveSet(engine(), 1);
  const configMap = set.configMap.type === "live" ? { ...set.configMap.object, data: { "config.yaml": "edited" } } : {};
  const decision = compute(at("creating", [1, 0]), {
    pods: NOT_READY,
    current: { ...set, configMap: { type: "live", object: configMap } },
  });
  expect(decision).toMatchObject({ step: "await-pods", ensure: { configMap: { exists: true } } });
});

test("pods-ready: all pods ready → switching", () => {
  expect(compute(at("creating", [1, 0]))).toMatchObject({
    type: "move",
    step: "pods-ready",
    status: status("switching", 1, 0),
    ensure: {},
    recheck: "requeue",
  });
});

test("every-edit-runs: a generation that no longer matches is not switched to, ready or not", () => {
  expect(compute(at("creating", [1, 0]), { current: liveSet(engine({ spec: IMAGE }), 1), pods: READY })).toMatchObject({
    step: "abandon",
  });
});

test("await-pods, routed-to-active-or-current, routing-repaired-at-once: a Service that names neither what serves nor what is being built is routed back to active", () => {
  const decision = compute(at("creating", [2, 0]), {
    current: liveSet(engine(), 2),
    pods: NOT_READY,
    routing: routingTo(1),
  });
  expect(decision).toMatchObject({ type: "hold", step: "await-pods", ensure: { routing: { generation: 0 } } });
});

test("await-pods: a Service that already names the generation being built is left to `switching`", () => {
  const decision = compute(at("creating", [1, 0]), {
    current: liveSet(engine(), 1),
    pods: NOT_READY,
    routing: routingTo(1),
  });
  expect(decision).toMatchObject({ type: "hold", step: "await-pods" });
  expect(decision).not.toHaveProperty("ensure.routing");
});

test("contradiction: creating behind the generation that serves is a defect", () => {
  expect(compute(at("creating", [1, 2]))).toMatchObject({ type: "broken", step: "contradiction" });
});
