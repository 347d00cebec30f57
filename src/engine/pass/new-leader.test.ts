// A process that is elected while its watch of engines stands still: it decides by a status of an earlier step of the
// rollout, and must neither move queries nor delete anything by it.
import { expect, test } from "vitest";
import { type FakeEngineCluster, image, stable } from "../../../test/engine/support/fake-cluster.ts";
import type { EngineKey } from "../cluster/engine-cluster.ts";
import type { ChildKind } from "../model/child-kinds.ts";

const target = (world: FakeEngineCluster) =>
  world.get("Service", "e-service")?.spec?.selector?.["firebolt.io/generation"];

async function until(world: FakeEngineCluster, phase: string): Promise<void> {
  while (world.status?.phase !== phase) {
    await world.pass();
    world.settle();
  }
}

/** Cached reads of the engine show it as it is now, whatever happens; another process leads. */
function stallEngine(world: FakeEngineCluster): void {
  const stale = world.get("FireboltEngine", "e");
  world.engine = () => stale;
}

test("queries are not sent back to a generation that drains, though the routing Service selects nothing that is known", async () => {
  const world = await stable();
  world.edit(image("new:1"));
  await until(world, "creating");
  await world.pass();
  const stale = world.get("FireboltEngine", "e");
  await until(world, "draining");
  const service = world.get("Service", "e-service");
  world.put("Service", { ...service, spec: { ...service?.spec, selector: { "firebolt.io/engine": "x" } } });
  world.engine = () => stale;
  world.elect();
  expect(await world.pass()).toEqual({ afterMs: 1_000 });
  expect(world.get("Service", "e-service")?.spec?.selector).toEqual({ "firebolt.io/engine": "x" });
});

test("queries are not sent forward to a generation that was given up since", async () => {
  const world = await stable(image("old:1"));
  world.edit(image("new:1"));
  await until(world, "switching");
  const [engine, set] = [world.get("FireboltEngine", "e"), world.get("StatefulSet", "e-g1")];
  const pods = ["e-g1-0", "e-g1-1"].flatMap((name) => world.get("Pod", name) ?? []);
  await until(world, "draining");
  world.edit(image("old:1"));
  await world.run();
  expect([world.status?.phase, target(world), world.names("StatefulSet")]).toEqual(["stable", "0", ["e-g0"]]);
  const child = world.child.bind(world);
  Object.assign(world, {
    engine: () => engine,
    child: (kind: ChildKind, key: EngineKey) =>
      kind === "StatefulSet" && key.name === "e-g1" ? set : child(kind, key),
    pods: () => pods,
  });
  world.elect();
  expect(await world.pass()).toEqual({ afterMs: 1_000 });
  expect(target(world)).toBe("0");
});

test("nothing is deleted by a status of a finished drain after the drain has started again", async () => {
  const world = await stable();
  world.edit(image("new:1"));
  await until(world, "cleaning");
  stallEngine(world);
  const stored = world.get("FireboltEngine", "e");
  if (stored?.status === undefined) throw new Error("no status");
  world.put("FireboltEngine", { ...stored, status: { ...stored.status, phase: "draining" } });
  world.elect();
  expect(await world.pass()).toEqual({ afterMs: 1_000 });
  expect(world.get("StatefulSet", "e-g0")?.metadata?.deletionTimestamp).toBeUndefined();
});

test("a process that stored the status itself reads no engine before the switch", async () => {
  const world = await stable();
  world.edit(image("new:1"));
  await until(world, "switching");
  world.taken();
  await world.pass();
  expect(world.taken()).toEqual(["route Service e-service to 1"]);
  expect(target(world)).toBe("1");
});

test("a generation that matches the stored spec is not abandoned for a reverted edit", async () => {
  const world = await stable(image("old:1"));
  world.edit(image("new:1"));
  await world.pass();
  await world.pass();
  const building = world.get("FireboltEngine", "e");
  world.edit(image("other:1"));
  const stale = world.get("FireboltEngine", "e");
  world.edit(building?.spec ?? {});
  world.engine = () => stale;
  world.elect();
  expect(await world.pass()).toEqual({ afterMs: 1_000 });
  expect(world.get("StatefulSet", "e-g1")?.metadata?.deletionTimestamp).toBeUndefined();
  expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 1 });
});
