// Repairs of objects that another client deleted or edited: each records one event, and nothing else does.
import { expect, test } from "vitest";
import { image } from "../../../test/engine/support/fake-cluster.ts";
import { type FakeTimedCluster, text, timed } from "../../../test/engine/support/fake-timed-cluster.ts";

function watched(world: FakeTimedCluster): string[] {
  const recorded: string[] = [];
  world.note = (reason, note) => {
    if (reason === "ChildRestored") recorded.push(note);
  };
  return recorded;
}

test.each([
  ["ConfigMap", "e-g0-config"],
  ["Service", "e-g0-hl"],
  ["Service", "e-service"],
] as const)("%s %s deleted", async (kind, name) => {
  const world = await timed();
  const recorded = watched(world);
  world.drop(kind, name);
  await world.run();
  expect(world.get(kind, name)).toBeDefined();
  expect(recorded).toEqual([`${kind} ${name} was deleted and has been created again`]);
});

test("the routing Service edited: the event names who did it", async () => {
  const world = await timed();
  const recorded = watched(world);
  const service = world.get("Service", "e-service");
  const managedFields = [{ manager: "kubectl-edit", operation: "Update", time: text(world.nowMs) }];
  const spec = { ...service?.spec, selector: { nobody: "here" } };
  world.put("Service", { ...service, metadata: { ...service?.metadata, managedFields }, spec });
  await world.run();
  expect(recorded).toEqual(["Service e-service was edited by kubectl-edit and has been restored"]);
});

test("the StatefulSet deleted: the next generation takes its place", async () => {
  const world = await timed();
  const recorded = watched(world);
  world.drop("StatefulSet", "e-g0");
  await world.run();
  expect(recorded).toEqual(["StatefulSet e-g0 was deleted; generation 1 takes its place"]);
});

test("neither a first build nor a rollout restores anything", async () => {
  const world = await timed();
  expect(world.events).not.toContain("ChildRestored");
  world.edit(image("new:1"));
  await world.run();
  world.edit({ replicas: 0 });
  await world.run();
  expect(world.events).not.toContain("ChildRestored");
});
