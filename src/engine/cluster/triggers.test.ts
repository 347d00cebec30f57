import type { KubeObject } from "@firebolt-operator/kube";
import type { CacheEvent, ObjectCache } from "@firebolt-operator/kube/cache";
import { expect, test } from "vitest";
import { EARLIER, engine, engineClass, instance } from "../../../test/engine/support/fixtures.ts";
import type { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { V1ContainerState, V1Pod, V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import { CHILDREN, PODS } from "../model/child-kinds.ts";
import {
  engineOfChildEvent,
  engineOfDeclared,
  engineOfEngineEvent,
  enginesOfClassEvent,
  enginesOfInstanceEvent,
} from "./triggers.ts";

const NO_ENGINES = { get: () => undefined } as unknown as ObjectCache<FireboltEngine>;
const engineOfStatefulSetEvent = engineOfDeclared(NO_ENGINES, CHILDREN.StatefulSet);
const engineOfConfigMapEvent = engineOfDeclared(NO_ENGINES, CHILDREN.ConfigMap);
const engineOfPodEvent = engineOfDeclared(NO_ENGINES, PODS);
const KEY = { namespace: "ns", name: "e" };
const modified = <T extends KubeObject>(previous: T, object: T): CacheEvent<T> =>
  ({ type: "modified", object, previous, origin: "watch" }) as CacheEvent<T>;
const change = (metadata: object, rest: Partial<FireboltEngine> = {}) =>
  modified(engine(), { ...engine(), metadata: { ...engine().metadata, ...metadata }, ...rest });

test.each([
  ["generation", { generation: 2 }],
  ["annotations", { annotations: { "firebolt.io/wake-requested": EARLIER } }],
  ["labels", { labels: { a: "b" } }],
  ["finalizers", { finalizers: [] }],
  ["deletion", { deletionTimestamp: EARLIER }],
] as const)("a change of an engine's %s triggers a reconcile", (_, metadata) => {
  expect(engineOfEngineEvent(change(metadata))).toEqual([KEY]);
});

test("idle-engines-start-no-pass: a status write starts none", () => {
  const status = { currentGeneration: 3, activeGeneration: 3, lastReconciled: EARLIER };
  expect(engineOfEngineEvent(change({ resourceVersion: "9" }, { status }))).toEqual([]);
});

test("engines that come or go always do", () => {
  for (const type of ["added", "deleted"] as const)
    expect(engineOfEngineEvent({ type, object: engine(), origin: "watch" })).toEqual([KEY]);
});

const labels = (name: string) => ({ [LABEL.engine]: name, [LABEL.generation]: "1" });
const child = (name: string, more = {}) => ({
  metadata: { namespace: "ns", name: "x", labels: labels(name), ...more },
});

test("children concern the engine they are labelled with, before and after", () => {
  expect(engineOfChildEvent(modified(child("e"), child("e", { resourceVersion: "2" })))).toEqual([KEY]);
  expect(engineOfChildEvent(modified(child("old"), child("e")))).toEqual([KEY, { namespace: "ns", name: "old" }]);
  expect(engineOfChildEvent({ type: "deleted", object: child("e"), origin: "watch" })).toEqual([KEY]);
  expect(
    engineOfChildEvent({ type: "added", object: { metadata: { namespace: "ns", name: "x" } }, origin: "watch" }),
  ).toEqual([]);
});

test("a write of a pass triggers no other, except a StatefulSet without replicas, which no pod event follows", () => {
  const written = <T extends KubeObject>(object: T) => ({ type: "added", object, origin: "write" }) as CacheEvent<T>;
  expect(engineOfConfigMapEvent(written(child("e")))).toEqual([]);
  expect(engineOfConfigMapEvent({ ...written(child("e")), origin: "watch" })).toEqual([KEY]);
  const set = (replicas: number): V1StatefulSet => ({
    ...child("e"),
    spec: { replicas, selector: {}, template: {}, serviceName: "" },
  });
  expect(engineOfStatefulSetEvent(written(set(2)))).toEqual([]);
  expect(engineOfStatefulSetEvent(written(set(0)))).toEqual([KEY]);
  expect(engineOfStatefulSetEvent({ ...written(set(2)), origin: "watch" })).toEqual([KEY]);
});

test.each([
  ["the deletion of a superseded generation", { currentGeneration: 3, activeGeneration: 3 }, {}, 0],
  ["… that still serves", { currentGeneration: 2, activeGeneration: 1 }, {}, 1],
  ["… that is being drained", { currentGeneration: 2, activeGeneration: 2, drainingGeneration: 1 }, {}, 1],
  ["… that is being made", { currentGeneration: 1, activeGeneration: 0 }, {}, 1],
  ["… of an engine made anew, in whose way it is", {}, {}, 1],
  ["… of an engine that is being deleted", { currentGeneration: 3 }, { deletionTimestamp: EARLIER }, 1],
])("a deleted child: %s", (_, status, metadata, passes) => {
  const of = { ...engine(), status, metadata: { ...engine().metadata, ...metadata } };
  const engines = { get: () => of } as unknown as ObjectCache<FireboltEngine>;
  const keysOf = engineOfDeclared(engines, { triggers: () => true });
  const going = modified(child("e"), child("e", { deletionTimestamp: EARLIER }));
  expect(keysOf(going)).toHaveLength(passes);
  expect(keysOf({ type: "deleted", object: child("e"), origin: "watch" })).toHaveLength(passes);
  // One that stays may have to be swept away.
  expect(keysOf({ type: "added", object: child("e"), origin: "watch" })).toEqual([KEY]);
});

test.each([
  ["its status", { status: { replicas: 1 } }, {}, 0],
  ["its spec", {}, { generation: 2 }, 1],
  ["its deletion", {}, { deletionTimestamp: EARLIER }, 1],
  ["its annotations", {}, { annotations: { a: "b" } }, 1],
  ["its owner", {}, { ownerReferences: [] }, 1],
] as const)("a StatefulSet event by %s", (_, rest, metadata, passes) => {
  const event = modified<V1StatefulSet>(child("e"), { ...child("e", metadata), ...rest } as V1StatefulSet);
  expect(engineOfStatefulSetEvent(event)).toHaveLength(passes);
});

const pod = (status: V1Pod["status"] = {}, metadata = {}): V1Pod => ({ ...child("e", metadata), status });
const container = (state: V1ContainerState, restartCount = 0): V1Pod["status"] => ({
  phase: "Running",
  containerStatuses: [
    {
      name: "engine",
      image: "",
      imageID: "",
      ready: false,
      restartCount,
      state,
      ...(restartCount > 0 ? { lastState: { terminated: { exitCode: 1 } } } : {}),
    },
  ],
});
const isReady = (status: string) => ({ conditions: [{ type: "Ready", status }] });

test.each([
  ["readiness", pod(isReady("False")), pod(isReady("True")), 1],
  ["phase", pod({ phase: "Pending" }), pod({ phase: "Running" }), 1],
  ["deletion", pod(), pod({}, { deletionTimestamp: EARLIER }), 1],
  ["a crash", pod(container({ running: {} })), pod(container({ waiting: { reason: "CrashLoopBackOff" } }, 1)), 1],
  [
    "its restart",
    pod(container({ waiting: { reason: "CrashLoopBackOff" } }, 1)),
    pod(container({ running: {} }, 1)),
    0,
  ],
  ["a start", pod(container({ waiting: { reason: "ContainerCreating" } })), pod(container({ running: {} })), 0],
  ["an address", pod({ phase: "Running" }), pod({ phase: "Running", podIP: "10.0.0.1" }), 0],
  [
    "another condition",
    pod(isReady("True")),
    pod({
      conditions: [
        { type: "PodScheduled", status: "True" },
        { type: "Ready", status: "True" },
      ],
    }),
    0,
  ],
] as const)("a pod event by %s", (_, before, after, passes) => {
  expect(engineOfPodEvent(modified<V1Pod>(before, after))).toHaveLength(passes);
});

/** Only what the triggers use: the look-up by index. */
const engines = {
  byIndex: (index: string, value: string) => (`${index}=${value}` in bound ? [engine()] : []),
} as unknown as ObjectCache<FireboltEngine>;
const bound = { "instance=ns/main": true, "engineClass=ns/c": true };

test.each([
  ["endpoint", instance({ metadataEndpoint: "" }), 1],
  ["id", instance({ id: "" }), 1],
  ["deletion", instance({ metadata: { name: "main", namespace: "ns", deletionTimestamp: EARLIER } }), 1],
  ["anything else", { ...instance(), status: { ...instance().status, gatewayReady: true } }, 0],
] as const)(
  "created-before-instance: an instance event by %s reaches its engines only when the gate reads it",
  (_, after, passes) => {
    expect(enginesOfInstanceEvent(engines)(modified(instance(), after))).toHaveLength(passes);
  },
);

const ready = (message: string) =>
  ({ type: "Ready", status: "False", reason: "OperatorOwnedFieldSet", message, lastTransitionTime: EARLIER }) as const;

test.each([
  ["class-template-edited: spec", engineClass({ metadata: { namespace: "ns", name: "c", generation: 2 } }), 1],
  ["verdict", engineClass({ status: { conditions: [ready("x")] } }), 1],
  ["count of bound engines", engineClass({ status: { boundEngines: 7 } }), 0],
] as const)("a class event by %s", (_, after, passes) => {
  expect(enginesOfClassEvent(engines)(modified(engineClass(), after))).toHaveLength(passes);
});

test("class-gate: a class that appears or vanishes reaches its engines at once", () => {
  for (const type of ["added", "deleted"] as const)
    expect(enginesOfClassEvent(engines)({ type, object: engineClass(), origin: "watch" })).toEqual([KEY]);
});
