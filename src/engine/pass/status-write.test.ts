import { expect, test } from "vitest";
import { FakeEngineStore } from "../../../test/engine/support/fake-engine-store.ts";
import { engine, NOW, NOW_MS } from "../../../test/engine/support/fixtures.ts";
import { writeStatus } from "./status-write.ts";

const before = { phase: "creating", currentGeneration: 0, activeGeneration: -1 };
const next = { ...before, phase: "switching" };

function start() {
  const world = new FakeEngineStore();
  const base = world.put("FireboltEngine", engine({ status: before }));
  return { world, base };
}

test("the status is stamped and written once", async () => {
  const { world, base } = start();
  expect(await writeStatus(world, base, next, NOW_MS)).toMatchObject({ type: "written" });
  expect(world.get("FireboltEngine", "e")?.status).toEqual({ ...next, lastReconciled: NOW });
  expect(world.requests).toEqual(["status FireboltEngine e"]);
});

test("no-needless-write: nothing is written when only the stamp would change", async () => {
  const { world } = start();
  const stamped = world.put(
    "FireboltEngine",
    engine({ status: { ...before, lastReconciled: "2020-01-01T00:00:00Z" } }),
  );
  expect(await writeStatus(world, stamped, before, NOW_MS)).toEqual({ type: "unchanged" });
  expect(world.requests).toEqual([]);
});

test("retry-own-status-only, spec-edited-before-status-write: after a concurrent edit of the spec the same status is written once more", async () => {
  const { world, base } = start();
  world.put("FireboltEngine", { ...base, spec: { instanceRef: "main", replicas: 9, storage: {} } });
  expect(await writeStatus(world, base, next, NOW_MS)).toMatchObject({ type: "written" });
  expect(world.get("FireboltEngine", "e")).toMatchObject({ spec: { replicas: 9 }, status: { phase: "switching" } });
  expect(world.requests).toEqual(["status FireboltEngine e", "get FireboltEngine e", "status FireboltEngine e"]);
});

test("retry-own-status-only, newer-status-meanwhile, no-blind-overwrite: a status that another writer stored meanwhile is never overwritten", async () => {
  const { world, base } = start();
  world.put("FireboltEngine", { ...base, status: { ...before, currentGeneration: 4 } });
  expect(await writeStatus(world, base, next, NOW_MS)).toEqual({ type: "discarded" });
  expect(world.get("FireboltEngine", "e")?.status).toEqual({ ...before, currentGeneration: 4 });
});

test("retry-own-status-only: an engine of the same name is another engine", async () => {
  const { world, base } = start();
  world.put("FireboltEngine", { ...base, metadata: { ...base.metadata, uid: "new" } });
  expect(await writeStatus(world, base, next, NOW_MS)).toEqual({ type: "discarded" });
});

test("retry-own-status-only: a second conflict ends the pass", async () => {
  const { world, base } = start();
  const edit = () =>
    world.put("FireboltEngine", {
      ...base,
      metadata: { ...base.metadata, labels: { n: String(world.requests.length) } },
    });
  world.intercept = (request) => {
    if (request.startsWith("status")) edit();
  };
  expect(await writeStatus(world, base, next, NOW_MS)).toEqual({ type: "discarded" });
  expect(world.requests.filter((request) => request.startsWith("status"))).toHaveLength(2);
});

test("a deleted engine needs no status", async () => {
  const { world, base } = start();
  world.drop("FireboltEngine", "e");
  expect(await writeStatus(world, base, next, NOW_MS)).toEqual({ type: "gone" });
});
