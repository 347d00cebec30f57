import { InvariantError } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { cluster, image, stable } from "../../../test/engine/support/fake-cluster.ts";

test("a drain with pods that no cache shows lists them at the API server", async () => {
  const world = await stable();
  world.edit({ ...image("new:1") });
  while (world.status?.phase !== "draining") {
    await world.pass();
    world.settle();
  }
  world.taken();
  world.freeze();
  for (const pod of ["e-g0-0", "e-g0-1"]) world.drop("Pod", pod);
  world.thaw();
  await world.pass();
  expect(world.taken().slice(0, 1)).toEqual(["list Pod e"]);
});

test("stateful-set-unseen-by-cache: a StatefulSet that the cache has not shown is not patched; the next pass abandons it", async () => {
  const world = await stable();
  world.edit(image("one:1"));
  await world.pass();
  world.freeze();
  await world.pass();
  const created = world.get("StatefulSet", "e-g1");
  world.thaw();
  world.edit(image("two:1"));
  expect(world.get("StatefulSet", "e-g1")).toEqual(created);
  await world.pass();
  expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 2 });
});

test("AlreadyExists ends the pass without a status, and the next waits for the cache, a second at most", async () => {
  const world = await stable();
  world.edit(image("one:1"));
  await world.pass();
  world.freeze();
  world.thaw();
  const stale = world.get("StatefulSet", "e-g0");
  if (stale === undefined) throw new Error("no set");
  world.taken();
  world.intercept = (request) => {
    if (request === "create StatefulSet e-g1" && world.get("StatefulSet", "e-g1") === undefined)
      world.put("StatefulSet", { ...stale, metadata: { ...stale.metadata, name: "e-g1" } });
  };
  expect(await world.pass()).toEqual({ afterMs: 1_000 });
  expect(world.taken().at(-1)).toBe("get StatefulSet e-g1");
});

test.each([
  ["StatefulSet", "e-g0"],
  ["Service", "e-g0-hl"],
  ["ConfigMap", "e-g0-config"],
] as const)(
  "same-name-again, created-never-adopted: a %s of another owner is neither adopted nor changed, and Ready names it",
  async (kind, name) => {
    const world = cluster();
    await world.pass();
    await world.pass();
    // Unlabelled: no cache ever shows it.
    const theirs = world.put(kind, { metadata: { name } });
    world.isHidden = () => true;
    expect(await world.pass()).toEqual({ afterMs: 10_000 });
    expect(world.ready).toMatchObject({ status: "False", reason: "NameInUse" });
    expect(world.ready?.message).toContain(`${kind} ns/${name} belongs to another owner`);
    expect(world.events).toEqual(["NameInUse"]);
    expect(world.get(kind, name)).toEqual(theirs);
    world.drop(kind, name);
    world.isHidden = () => false;
    await world.pass();
    expect(world.get(kind, name)?.metadata?.ownerReferences).toMatchObject([{ kind: "FireboltEngine" }]);
  },
);

test("stateful-set-deleted, read-your-writes: a StatefulSet missing from the cache counts only when the API server agrees", async () => {
  const world = await stable();
  const set = world.get("StatefulSet", "e-g0");
  world.drop("StatefulSet", "e-g0");
  world.freeze();
  if (set !== undefined) world.put("StatefulSet", set);
  await world.pass();
  expect(world.taken()).toEqual(["get StatefulSet e-g0"]);
  expect(world.status).toMatchObject({ phase: "stable", currentGeneration: 0 });
  world.thaw();
  world.drop("StatefulSet", "e-g0");
  await world.pass();
  expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 1 });
});

test("routing-service-edited, selector-never-goes-back: a routing Service changed since it was read is not written over", async () => {
  const world = await stable();
  world.edit(image("one:1"));
  while (world.status?.phase !== "switching") {
    await world.pass();
    world.settle();
  }
  world.freeze();
  const service = world.get("Service", "e-service");
  if (service !== undefined) world.put("Service", service);
  expect(await world.pass()).toEqual({ afterMs: 1_000 });
  expect(world.get("Service", "e-service")?.spec?.selector?.["firebolt.io/generation"]).toBe("0");
  expect(world.status).toMatchObject({ phase: "switching" });
});

test("contradiction-at-rest: a defect fails the pass and leaves everything alone, the sweep included", async () => {
  const world = await stable();
  const stored = world.get("FireboltEngine", "e");
  world.put("FireboltEngine", { ...stored, status: { phase: "stable", currentGeneration: 4, activeGeneration: 1 } });
  const config = world.get("ConfigMap", "e-g0-config");
  const labels = { ...config?.metadata?.labels, "firebolt.io/generation": "2" };
  world.put("ConfigMap", { ...config, metadata: { ...config?.metadata, name: "e-g2-config", labels } });
  await expect(world.pass()).rejects.toThrow(InvariantError);
  expect(world.taken()).toEqual(["get StatefulSet e-g4"]);
});

test("orphans-of-many-generations, orphans-behind-closed-gate, sweep-after-every-pass: orphaned objects are deleted, also behind a closed gate, on a view confirmed by the API server", async () => {
  const world = await stable();
  world.edit(image("one:1"));
  await world.run();
  world.taken();
  for (const generation of [0]) {
    const set = world.get("StatefulSet", "e-g1");
    const labels = { ...set?.metadata?.labels, "firebolt.io/generation": String(generation) };
    world.put("StatefulSet", { ...set, metadata: { ...set?.metadata, name: "e-g0", uid: "old", labels } });
  }
  world.drop("FireboltInstance", "main");
  expect(await world.pass()).toEqual({ afterMs: 10_000 });
  expect(world.taken()).toEqual([
    "status FireboltEngine e",
    "get FireboltEngine e",
    "get Service e-service",
    "delete StatefulSet e-g0",
  ]);
});

test("an unreadable view deletes nothing and is requeued within 2 s", async () => {
  const world = await stable();
  world.edit(image("one:1"));
  await world.run();
  const config = world.get("ConfigMap", "e-g1-config");
  const labels = { ...config?.metadata?.labels, "firebolt.io/generation": "0" };
  world.put("ConfigMap", { ...config, metadata: { ...config?.metadata, name: "e-g0-config", uid: "old", labels } });
  world.intercept = (request) => {
    if (request.startsWith("get")) throw new Error("away");
  };
  expect(await world.pass()).toEqual({ afterMs: 2_000 });
  expect(world.names("ConfigMap")).toContain("e-g0-config");
});

test("delete-rejected, delete-refused: a rejected delete while cleaning keeps the phase and the rest of the set", async () => {
  const world = await stable();
  world.edit(image("one:1"));
  world.intercept = (request) => {
    if (request === "delete StatefulSet e-g0") throw new Error("no deletes today");
  };
  await expect(world.run()).rejects.toThrow("no deletes today");
  expect(world.status).toMatchObject({ phase: "cleaning", drainingGeneration: 0 });
  expect(world.names("ConfigMap")).toContain("e-g0-config");
  world.intercept = () => undefined;
  await world.run();
  expect(world.status).toMatchObject({ phase: "stable" });
});

test("a status that could not be written is not followed by another", async () => {
  const world = await stable();
  world.settle(false);
  world.taken();
  world.intercept = (request) => {
    if (request.startsWith("status")) throw new Error("no response");
  };
  await expect(world.pass()).rejects.toThrow("no response");
  expect(world.taken()).toEqual(["status FireboltEngine e"]);
});

test("after a crash the hash of the rollout follows the StatefulSet that was created", async () => {
  const world = await stable();
  world.edit({ replicas: 0 });
  await world.pass();
  world.edit({ replicas: 1 });
  world.intercept = (request) => {
    if (request.startsWith("status")) throw new InvariantError("the process dies");
  };
  await expect(world.pass()).rejects.toThrow("dies");
  world.intercept = () => undefined;
  await world.run();
  expect(world.status).toMatchObject({ phase: "stable", activeGeneration: 1 });
  world.edit({ replicas: 0 });
  await world.pass();
  expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 2 });
  expect(world.status?.heldRollout).toBeUndefined();
});
