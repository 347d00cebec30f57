import { silentLogger } from "@firebolt-operator/kube";
import { expect, test } from "vitest";
import { FakeEngineStore } from "../../../test/engine/support/fake-engine-store.ts";
import { engine } from "../../../test/engine/support/fixtures.ts";
import { LABEL } from "../../api/labels.ts";
import { identityOf } from "../model/stored-state.ts";
import { sweepOrphans } from "./sweep.ts";

const owner = { apiVersion: "v", kind: "FireboltEngine", name: "e", uid: "engine-uid", controller: true };

/** An engine at rest in generation 200, with orphaned objects of so many others. */
function cluster(orphans: number) {
  const world = new FakeEngineStore();
  world.put("FireboltEngine", engine({ status: { phase: "stable", currentGeneration: 200, activeGeneration: 200 } }));
  for (let generation = 0; generation < orphans; generation++) {
    const labels = { [LABEL.engine]: "e", [LABEL.generation]: String(generation) };
    const metadata = { labels, ownerReferences: [owner] };
    world.put("ConfigMap", { metadata: { ...metadata, name: `e-g${generation}-config` } });
    world.put("Service", { metadata: { ...metadata, name: `e-g${generation}-hl` } });
  }
  const deleted: string[] = [];
  const sweep = () =>
    sweepOrphans({
      cluster: world,
      identity: identityOf(engine()),
      logger: silentLogger,
      onDeleted: (kind) => deleted.push(kind),
    });
  return { world, deleted, sweep };
}

test("nothing to sweep costs no request", async () => {
  const { world, sweep } = cluster(0);
  expect(await sweep()).toBe("clean");
  expect(world.requests).toEqual([]);
});

test("orphans-of-many-generations: at most 100 deletes per pass, kind by kind, and the rest soon", async () => {
  const { world, deleted, sweep } = cluster(80);
  expect(await sweep()).toBe("backlog");
  expect(deleted).toEqual([...Array(80).fill("Service"), ...Array(20).fill("ConfigMap")]);
  expect(await sweep()).toBe("clean");
  expect(world.names("ConfigMap")).toEqual([]);
});

test("after three failures of one kind the next kind has its turn", async () => {
  const { world, deleted, sweep } = cluster(5);
  world.intercept = (request) => {
    if (request.startsWith("delete Service")) throw new Error("no");
  };
  expect(await sweep()).toBe("backlog");
  expect(world.requests.filter((request) => request.startsWith("delete Service"))).toHaveLength(3);
  expect(deleted).toEqual(Array(5).fill("ConfigMap"));
});

test("the confirmed view decides: what the cache calls an orphan may serve by now", async () => {
  const { world, sweep } = cluster(1);
  world.freeze();
  world.put("FireboltEngine", engine({ status: { phase: "stable", currentGeneration: 0, activeGeneration: 0 } }));
  expect(await sweep()).toBe("clean");
  expect(world.requests).toEqual(["get FireboltEngine e", "get Service e-service"]);
});

test("an engine that does not exist or is being deleted is not swept", async () => {
  const { world, sweep } = cluster(1);
  const stored = world.get("FireboltEngine", "e");
  world.freeze();
  world.put("FireboltEngine", {
    ...stored,
    metadata: { ...stored?.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  });
  expect(await sweep()).toBe("clean");
  expect(world.names("ConfigMap")).toHaveLength(1);
});
