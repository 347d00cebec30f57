import { silentLogger } from "@firebolt-operator/kube";
import type { EventNote } from "@firebolt-operator/kube/events";
import { expect, test } from "vitest";
import { FakeEngineStore } from "../../../test/engine/support/fake-engine-store.ts";
import { EARLIER, engine, instance, NOW_MS, removedParts } from "../../../test/engine/support/fixtures.ts";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import { noEngineMetrics } from "../metrics-hooks.ts";
import { deleteEngine } from "./deletion.ts";
import { runEnginePass } from "./pass.ts";

const pass = (world: FakeEngineStore) =>
  runEnginePass(
    world,
    { namespace: "ns", name: "e" },
    {
      defaults: OPERATOR_DEFAULTS,
      bounds: {},
      drainSettleMs: 0,
      nowMs: () => NOW_MS,
      events: { record: () => undefined },
      metrics: noEngineMetrics,
      logger: silentLogger,
    },
  );

function created(): FakeEngineStore {
  const world = new FakeEngineStore();
  world.put("FireboltInstance", instance());
  world.put("FireboltEngine", engine());
  return world;
}

async function running() {
  const world = created();
  for (let passes = 0; passes < 8; passes++) {
    await pass(world);
    world.settle();
  }
  const stored = world.get("FireboltEngine", "e");
  world.put("FireboltEngine", { ...stored, metadata: { ...stored?.metadata, deletionTimestamp: EARLIER } });
  world.requests.splice(0);
  return world;
}

async function remove(world: FakeEngineStore) {
  const events: EventNote[] = [];
  const of = world.get("FireboltEngine", "e");
  if (of === undefined) throw new Error("no engine");
  const deps = { events: { record: (event: EventNote) => events.push(event) }, logger: silentLogger, nowMs: NOW_MS };
  const outcome = await deleteEngine(world, of, deps).catch((error: unknown) => error);
  return { outcome, events };
}

test("add-finalizer: a new engine gets the finalizer before anything else is written", async () => {
  const world = created();
  world.put("FireboltEngine", { ...engine(), metadata: { ...engine().metadata, finalizers: [] } });
  expect(await pass(world)).toBe("requeue");
  expect(world.get("FireboltEngine", "e")?.metadata?.finalizers).toEqual(["compute.firebolt.io/engine-cleanup"]);
  expect(world.requests).toHaveLength(1);
});

test("engine-deleted: every child is deleted, then the finalizer is removed, in six requests", async () => {
  const world = await running();
  expect((await remove(world)).outcome).toBe("onChange");
  expect(world.requests).toEqual([
    "list StatefulSet e",
    "delete StatefulSet e-g0",
    ...removedParts(0).flatMap(({ kind, name }) =>
      // The Services of an engine are deleted together.
      kind === "Service" ? [`delete Service ${name}`, "delete Service e-service"] : [`delete ${kind} ${name}`],
    ),
    "unfinalize FireboltEngine e",
  ]);
});

test("delete-refused, finalizer-goes-last: one rejected delete keeps the finalizer, and the others are deleted all the same", async () => {
  const world = await running();
  world.intercept = (request) => {
    if (request === "delete StatefulSet e-g0" || request === "delete ConfigMap e-g0-config")
      throw new Error(`no ${request}`);
  };
  const { outcome } = await remove(world);
  expect(outcome).toBeInstanceOf(AggregateError);
  expect((outcome as AggregateError).errors).toHaveLength(2);
  expect(world.names("Service")).toEqual([]);
  expect(world.names("FireboltEngine")).toEqual(["e"]);
  world.intercept = () => undefined;
  expect((await remove(world)).outcome).toBe("onChange");
  expect(world.names("FireboltEngine")).toEqual([]);
});

test("a failed list counts too, and what the cache knows is deleted meanwhile", async () => {
  const world = await running();
  world.intercept = (request) => {
    if (request.startsWith("list")) throw new Error("no lists");
  };
  expect((await remove(world)).outcome).toBeInstanceOf(AggregateError);
  expect(world.get("StatefulSet", "e-g0")?.metadata?.deletionTimestamp).toBeDefined();
  expect(world.names("FireboltEngine")).toEqual(["e"]);
});

test("foreign-objects-untouched, object-of-another-owner: children of another owner stay", async () => {
  const world = await running();
  world.put("ConfigMap", {
    metadata: { name: "mine", labels: { "firebolt.io/engine": "e", "firebolt.io/generation": "0" } },
  });
  expect((await remove(world)).outcome).toBe("onChange");
  expect(world.names("ConfigMap")).toEqual(["mine"]);
});

test("foreign-finalizer: foreign finalizers are reported and do not block", async () => {
  const world = await running();
  const service = world.get("Service", "e-g0-hl");
  world.put("Service", {
    ...service,
    metadata: { ...service?.metadata, finalizers: ["example.com/keep", "foregroundDeletion"] },
  });
  const { outcome, events } = await remove(world);
  expect(outcome).toBe("onChange");
  expect(events).toMatchObject([{ type: "Warning", reason: "ExternalFinalizerOnOwnedResource" }]);
  expect(events[0]?.note).toContain("- Service/e-g0-hl: example.com/keep");
  expect(events[0]?.note).not.toContain("foregroundDeletion");
  expect(world.requests.slice(-2)).toEqual(["status FireboltEngine e", "unfinalize FireboltEngine e"]);
});

test("after-any-child-delete: objects that already terminate are not deleted again", async () => {
  const world = await running();
  const set = world.get("StatefulSet", "e-g0");
  world.put("StatefulSet", { ...set, metadata: { ...set?.metadata, deletionTimestamp: EARLIER } });
  await remove(world);
  expect(world.requests).not.toContain("delete StatefulSet e-g0");
});

test("delete-engine: an engine that only others hold is left to them, and gets no finalizer back", async () => {
  const world = await running();
  const stored = world.get("FireboltEngine", "e");
  world.put("FireboltEngine", { ...stored, metadata: { ...stored?.metadata, finalizers: ["example.com/other"] } });
  expect((await remove(world)).outcome).toBe("onChange");
  expect(world.requests).toEqual([]);
});

test("deleted with --cascade=orphan nothing but the finalizer is removed", async () => {
  const world = await running();
  const stored = world.get("FireboltEngine", "e");
  const finalizers = [...(stored?.metadata?.finalizers ?? []), "orphan"];
  world.put("FireboltEngine", { ...stored, metadata: { ...stored?.metadata, finalizers } });
  expect((await remove(world)).outcome).toBe("onChange");
  expect(world.requests).toEqual(["unfinalize FireboltEngine e"]);
  expect(world.names("StatefulSet")).toEqual(["e-g0"]);
});

test("pods whose StatefulSet was deleted without them are deleted with the engine", async () => {
  const world = await running();
  world.drop("StatefulSet", "e-g0");
  const pod = world.get("Pod", "e-g0-0");
  world.put("Pod", { ...pod, metadata: { ...pod?.metadata, ownerReferences: [] } });
  expect((await remove(world)).outcome).toBe("onChange");
  expect(world.requests.filter((request) => request.startsWith("delete Pod "))).toEqual(["delete Pod e-g0-0"]);
});
