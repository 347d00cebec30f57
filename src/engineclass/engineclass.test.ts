import { silentLogger } from "@firebolt-operator/kube";
import type { EventNote } from "@firebolt-operator/kube/events";
import { expect, test } from "vitest";
import { EARLIER, engine, engineClass, NOW, NOW_MS } from "../../test/engine/support/fixtures.ts";
import type { EngineClassStatus, FireboltEngineClass } from "../api/firebolt-engine/engine-class.ts";
import { ENGINE_CLASS_NAMES } from "../api/group.ts";
import { computeEngineClass } from "./compute.ts";
import { classesOfEngineEvent, classOfEvent } from "./controller.ts";
import type { EngineClassCluster, WriteResult } from "./engine-class-cluster.ts";
import type { EngineClassMetrics } from "./metrics-hooks.ts";
import { runEngineClassPass } from "./pass.ts";

const FINALIZERS = [ENGINE_CLASS_NAMES.finalizer];
const guarded = (metadata = {}, rest: Partial<FireboltEngineClass> = {}) =>
  engineClass({
    metadata: { namespace: "ns", name: "c", generation: 4, finalizers: FINALIZERS, ...metadata },
    ...rest,
  });
const deleting = { deletionTimestamp: EARLIER };
const compute = (of: FireboltEngineClass, boundEngines = 0) =>
  computeEngineClass({ nowMs: NOW_MS, engineClass: of, boundEngines });

test("the first pass adds the guard", () => {
  expect(compute(engineClass())).toEqual({ type: "guard" });
});

test("a clean template is Admissible, with the count", () => {
  expect(compute(guarded(), 3)).toEqual({
    type: "judge",
    status: {
      observedGeneration: 4,
      boundEngines: 3,
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "Admissible",
          message: expect.any(String),
          lastTransitionTime: NOW,
          observedGeneration: 4,
        },
      ],
    },
  });
});

test("a template with operator-owned paths names every one of them", () => {
  const template = { metadata: { labels: { "firebolt.io/x": "1" } }, spec: { hostNetwork: true } };
  const decision = compute(guarded({}, { spec: { template, storage: {} } }));
  expect(decision).toMatchObject({ status: { conditions: [{ status: "False", reason: "OperatorOwnedFieldSet" }] } });
  const message = decision.type === "judge" ? decision.status.conditions?.[0]?.message : "";
  expect(message).toContain("spec.template.metadata.labels[firebolt.io/x]");
  expect(message).toContain("spec.template.spec.hostNetwork");
});

test("bound-class-deleted: deleting while engines name it is blocked, naming class and count", () => {
  expect(compute(guarded(deleting), 2)).toMatchObject({
    type: "block",
    status: {
      boundEngines: 2,
      conditions: [{ status: "False", reason: "DeletionBlocked", message: expect.stringMatching(/"c".*2 engines/) }],
    },
  });
  // The last one counts as much as the first.
  expect(compute(guarded(deleting), 1)).toMatchObject({ type: "block", status: { boundEngines: 1 } });
});

test("deleting without engines releases; held by others only, it is left", () => {
  expect(compute(guarded(deleting))).toEqual({ type: "release" });
  expect(compute(guarded({ ...deleting, finalizers: ["x/y"] }), 1)).toEqual({ type: "leave" });
});

class World implements EngineClassCluster {
  readonly writes: string[] = [];
  stored: FireboltEngineClass;
  cached = 0;
  direct: number | Error = 0;
  result: WriteResult = "written";
  constructor(stored: FireboltEngineClass) {
    this.stored = stored;
  }
  engineClass = () => this.stored;
  countEngines = () => this.cached;
  async countEnginesDirectly() {
    if (this.direct instanceof Error) throw this.direct;
    return this.direct;
  }
  async addFinalizer() {
    this.writes.push("guard");
    return this.result;
  }
  async removeFinalizer() {
    this.writes.push("release");
    return this.result;
  }
  async writeStatus(_: unknown, status: EngineClassStatus) {
    this.writes.push("status");
    if (this.result === "written") this.stored = { ...this.stored, status };
    return this.result;
  }
}

const events: EventNote[] = [];
const counted: string[] = [];
const metrics: EngineClassMetrics = {
  passEnded: ({ engineClass: { name }, status }) => counted.push(`${name} ${status.boundEngines}`),
  removed: ({ name }) => counted.push(`${name} gone`),
};
const pass = (world: World) =>
  runEngineClassPass(
    world,
    { namespace: "ns", name: "c" },
    { nowMs: () => NOW_MS, events: { record: (event) => events.push(event) }, metrics, logger: silentLogger },
  );

test("the series of a class are removed with it", async () => {
  const recorded = async (world: World) => {
    counted.length = 0;
    await pass(world);
    return counted;
  };
  const world = new World(guarded());
  world.cached = 2;
  expect(await recorded(world)).toEqual(["c 2"]);
  world.result = "conflict";
  world.cached = 3;
  expect(await recorded(world)).toEqual([]);
  expect(await recorded(Object.assign(new World(guarded()), { engineClass: () => undefined }))).toEqual(["c gone"]);
  expect(await recorded(new World(guarded(deleting)))).toEqual(["c gone"]);
  const heldByOthers = new World(engineClass({ metadata: { namespace: "ns", name: "c", ...deleting } }));
  expect(await recorded(heldByOthers)).toEqual(["c gone"]);
});

test("an unchanged status is not written", async () => {
  const world = new World(guarded());
  world.cached = 2;
  expect(await pass(world)).toEqual({ afterMs: 30_000 });
  expect(await pass(world)).toEqual({ afterMs: 30_000 });
  expect(world.writes).toEqual(["status"]);
});

test("bound-class-never-released: the cache may show zero; only the API server's count releases", async () => {
  const world = new World(guarded(deleting));
  world.direct = 1;
  expect(await pass(world)).toEqual({ afterMs: 30_000 });
  expect(world.stored.status?.boundEngines).toBe(1);
  world.direct = 0;
  expect(await pass(world)).toBe("onChange");
  expect(world.writes).toEqual(["status", "release"]);
});

test("bound-class-never-released: a list that fails keeps the class", async () => {
  const world = new World(guarded(deleting));
  world.direct = new Error("no list");
  await expect(pass(world)).rejects.toThrow("no list");
  expect(world.writes).toEqual([]);
});

test.each([
  ["status", guarded()],
  ["finalizer", guarded(deleting)],
] as const)("a conflict on the %s is discarded, now", async (_, of) => {
  const world = new World(of);
  world.result = "conflict";
  expect(await pass(world)).toBe("requeue");
});

test("a rejection is reported once", async () => {
  events.splice(0);
  const world = new World(guarded(deleting));
  world.direct = 2;
  await pass(world);
  world.direct = 1;
  await pass(world);
  expect(events.map(({ reason, action }) => [reason, action])).toEqual([["DeletionBlocked", "Deleting"]]);
});

const named = (engineClassRef?: string) => engine({ spec: engineClassRef === undefined ? {} : { engineClassRef } });
const keys = (...names: string[]) => names.map((name) => ({ namespace: "ns", name }));

test("bound-count-converges, engine-changes-class: an engine that moves from A to B recounts both", () => {
  const event = { type: "modified", object: named("b"), previous: named("a"), origin: "watch" } as const;
  expect(classesOfEngineEvent(event)).toEqual(keys("a", "b"));
});

test.each([
  ["clears its reference", { type: "modified", object: named(), previous: named("a"), origin: "watch" }, ["a"]],
  ["sets one", { type: "modified", object: named("a"), previous: named(), origin: "watch" }, ["a"]],
  ["keeps it", { type: "modified", object: named("a"), previous: named("a"), origin: "watch" }, []],
  ["appears", { type: "added", object: named("a"), origin: "watch" }, ["a"]],
  ["is gone", { type: "deleted", object: named("a"), origin: "watch" }, ["a"]],
  ["names none", { type: "added", object: named(), origin: "watch" }, []],
] as const)("an engine that %s", (_, event, names) => {
  expect(classesOfEngineEvent(event)).toEqual(keys(...names));
});

test("the controller's own status writes trigger no reconcile", () => {
  const previous = guarded();
  expect(
    classOfEvent({ type: "modified", object: guarded({}, { status: { boundEngines: 1 } }), previous, origin: "write" }),
  ).toEqual([]);
  expect(classOfEvent({ type: "modified", object: guarded(deleting), previous, origin: "watch" })).toEqual(keys("c"));
});
