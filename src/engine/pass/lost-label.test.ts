// Objects of an engine that lost the label by which caches find them: they are found by name, get the label back, and
// go with their generation.
import { expect, test } from "vitest";
import { type FakeEngineCluster, image, stable } from "../../../test/engine/support/fake-cluster.ts";

const KEPT = { "firebolt.io/generation": "" };

/** Removes the label, and with it the object from every cache. */
function hide(world: FakeEngineCluster, kind: "Service" | "ConfigMap", name: string): void {
  const object = world.get(kind, name);
  world.put(kind, { ...object, metadata: { ...object?.metadata, labels: KEPT } });
  world.isHidden = (of, child) =>
    of === kind && world.get(of, child)?.metadata?.labels?.["firebolt.io/engine"] === undefined;
}

test.each([
  ["Service", "e-g0-hl"],
  ["ConfigMap", "e-g0-config"],
] as const)("at rest a %s gets its label back instead of failing to be created for ever", async (kind, name) => {
  const world = await stable();
  hide(world, kind, name);
  await world.pass();
  expect(world.get(kind, name)?.metadata?.labels).toMatchObject({ "firebolt.io/engine": "e" });
  world.taken();
  await world.pass();
  expect(world.taken()).toEqual([]);
});

test.each([
  ["Service", "e-g1-hl"],
  ["ConfigMap", "e-g1-config"],
] as const)("a %s is deleted with the generation that is abandoned", async (kind, name) => {
  const world = await stable();
  world.edit(image("new:1"));
  await world.pass();
  await world.pass();
  hide(world, kind, name);
  world.edit(image("newer:1"));
  await world.pass();
  expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 2 });
  expect(world.get(kind, name)).toBeUndefined();
});
