// Whole passes in memory around the moment at which traffic changes: when the old generation counts as drained, when it
// is switched back to, and what an unexplained new generation waits for.
import { KubeApiError } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { image } from "../../../test/engine/support/fake-cluster.ts";
import {
  type FakeTimedCluster,
  MINUTE,
  pageOf,
  resting,
  text,
} from "../../../test/engine/support/fake-timed-cluster.ts";
import { engineClass } from "../../../test/engine/support/fixtures.ts";
import { ANNOTATION, LABEL } from "../../api/labels.ts";

const SETTLE_MS = 35_000;

/** Passes until the engine is in this phase. */
async function reach(world: FakeTimedCluster, phase: string): Promise<void> {
  for (let pass = 0; world.status?.phase !== phase; pass++) {
    if (pass > 30) throw new Error(`not ${phase}: ${JSON.stringify(world.status)}`);
    await world.pass();
    world.settle();
  }
  world.taken();
}

async function draining(spec: object = image("two:1")): Promise<FakeTimedCluster> {
  const world = await resting();
  world.drainSettleMs = SETTLE_MS;
  world.edit(spec);
  await reach(world, "draining");
  return world;
}

const target = (world: FakeTimedCluster) => world.get("Service", "e-service")?.spec?.selector?.[LABEL.generation];

describe("the settle time", () => {
  test("no probe is made before it is over, one that finds nothing ends the drain, and the engine waits exactly for it", async () => {
    const world = await draining();
    expect(await world.pass()).toEqual({ afterMs: SETTLE_MS });
    expect(world.taken()).toEqual([]);
    world.nowMs += SETTLE_MS - 1;
    expect(await world.pass()).toEqual({ afterMs: 1 });
    expect(world.taken()).toEqual([]);
    world.nowMs += 1;
    await world.pass();
    expect(world.taken()).toContain("scrape Pod e-g0-0");
    expect(world.status?.phase).toBe("cleaning");
  });

  test("a query that reached the old generation after the switch holds it", async () => {
    const world = await draining();
    world.metrics = () => ({ status: 200, body: pageOf(1) });
    world.nowMs += SETTLE_MS;
    for (let pass = 0; pass < 3; pass++) expect(await world.pass()).toEqual({ afterMs: 5_000 });
    expect(world.status?.phase).toBe("draining");
    world.metrics = () => ({ status: 200, body: pageOf(0) });
    await world.pass();
    expect(world.status?.phase).toBe("cleaning");
  });

  test("it applies to stops", async () => {
    const world = await draining({ replicas: 0 });
    expect(await world.pass()).toEqual({ afterMs: SETTLE_MS });
  });

  test("a generation without pods has nothing to wait for", async () => {
    const world = await resting(undefined, 0);
    world.drainSettleMs = SETTLE_MS;
    world.edit({ replicas: 1 });
    await reach(world, "draining");
    await world.pass();
    expect(world.status?.phase).toBe("cleaning");
  });

  test("an engine that drained before there was such a time waits for it once", async () => {
    const world = await draining();
    const stored = world.get("FireboltEngine", "e");
    if (stored?.status === undefined) throw new Error("no status");
    const { drainingSince: _, ...status } = stored.status;
    world.put("FireboltEngine", { ...stored, status });
    expect(await world.pass()).toEqual({ afterMs: SETTLE_MS });
    world.nowMs += SETTLE_MS;
    await world.pass();
    expect(world.status?.phase).toBe("cleaning");
  });

  test("a clock that was set back by an hour does not make it an hour longer", async () => {
    const world = await draining();
    world.nowMs -= 60 * MINUTE;
    expect(await world.pass()).toEqual({ afterMs: SETTLE_MS });
    world.nowMs += SETTLE_MS;
    await world.pass();
    expect(world.status?.phase).toBe("cleaning");
  });

  test("service-read-before-delete: the Service, read directly before the deletion, sends the drain back to its start", async () => {
    const world = await draining();
    world.nowMs += SETTLE_MS;
    await reach(world, "cleaning");
    // The cache does not show that another client points the Service back at generation 0.
    world.freeze();
    const service = world.get("Service", "e-service");
    const selector = { ...service?.spec?.selector, [LABEL.generation]: "0" };
    world.put("Service", { ...service, spec: { ...service?.spec, selector } });
    await world.pass();
    world.thaw();
    expect(world.names("StatefulSet")).toEqual(["e-g0", "e-g1"]);
    expect(world.get("StatefulSet", "e-g0")?.metadata).not.toHaveProperty("deletionTimestamp");
    expect(world.status).toMatchObject({ phase: "draining", drainingSince: text(world.nowMs) });
    expect(target(world)).toBe("1");
  });
});

describe("a pod that the cache shows as not running", () => {
  test("is read from the API server before it counts as idle", async () => {
    const world = await draining();
    const pod = world.get("Pod", "e-g0-1");
    world.put("Pod", { ...pod, status: { phase: "Pending" } });
    world.freeze();
    if (pod !== undefined) world.put("Pod", pod);
    world.metrics = (name) => ({ status: 200, body: pageOf(name === "e-g0-1" ? 1 : 0) });
    world.nowMs += SETTLE_MS;
    await world.pass();
    world.thaw();
    expect(world.status?.phase).toBe("draining");
    expect(world.taken()).toContain("list Pod e");
  });
});

describe("a wake request that meets a stop", () => {
  test("switch-back-instead-of-third: switches back to the draining generation, whatever queries it still runs", async () => {
    const world = await draining({ replicas: 0 });
    world.metrics = () => ({ status: 200, body: pageOf(1) });
    world.nowMs += SETTLE_MS;
    await world.pass();
    expect([world.status?.phase, target(world)]).toEqual(["draining", "1"]);
    world.stamp(world.nowMs);
    await world.pass();
    expect(world.replicas).toBe(2);
    await world.pass();
    expect(target(world)).toBe("0");
    expect(world.status).toMatchObject({
      phase: "draining",
      currentGeneration: 0,
      activeGeneration: 0,
      drainingGeneration: 1,
    });
    await world.rest();
    expect(world.status).toMatchObject({ phase: "stable", currentGeneration: 0, highestGeneration: 1 });
    expect(world.names("StatefulSet")).toEqual(["e-g0"]);
  });

  test("a request from before the stop does not", async () => {
    const world = await draining({ replicas: 0 });
    const stored = world.get("FireboltEngine", "e");
    if (stored?.status === undefined) throw new Error("no status");
    world.put("FireboltEngine", { ...stored, status: { ...stored.status, lastScaledAt: text(world.nowMs) } });
    world.stamp(world.nowMs - MINUTE);
    await world.pass();
    expect(world.replicas).toBe(0);
  });
});

describe("a generation that only a foreign edit explains", () => {
  const editStatefulSet = (world: FakeTimedCluster, name: string): void => {
    const set = world.get("StatefulSet", name);
    if (set?.spec === undefined) throw new Error(`no ${name}`);
    const template = {
      ...set.spec.template,
      metadata: { ...set.spec.template.metadata, annotations: { stamp: name } },
    };
    const managedFields = [{ manager: "stamper", operation: "Update", time: text(world.nowMs) }];
    const metadata = { ...set.metadata, generation: 2, managedFields };
    world.put("StatefulSet", { ...set, metadata, spec: { ...set.spec, template } });
  };

  test("waits a second, then two, then four, and an event names the field and its manager", async () => {
    const world = await resting(undefined);
    const notes: string[] = [];
    world.note = (reason, note) => void (reason === "RolloutHeld" && notes.push(note));
    const waits: number[] = [];
    for (let generation = 0; generation < 3; generation++) {
      editStatefulSet(world, `e-g${generation}`);
      const next = await world.pass();
      if (typeof next !== "object") throw new Error(`not held: ${next}`);
      waits.push(next.afterMs);
      expect(world.status).toMatchObject({ phase: "stable", currentGeneration: generation });
      world.nowMs += next.afterMs;
      await world.rest();
      expect(world.status).toMatchObject({ currentGeneration: generation + 1 });
    }
    expect(waits).toEqual([1_000, 2_000, 4_000]);
    expect(notes).toHaveLength(3);
    expect(notes[0]).toContain("edited by stamper (spec.template.metadata.annotations");
  });

  test("a StatefulSet scaled by hand: the event names who did it and what, and pods that never served hold nothing", async () => {
    const world = await resting(undefined);
    const notes: string[] = [];
    world.note = (reason, note) => void (reason === "GenerationCreated" && notes.push(note));
    const set = world.get("StatefulSet", "e-g0");
    if (set?.spec === undefined) throw new Error("no e-g0");
    const managedFields = [{ manager: "kubectl", operation: "Update", subresource: "scale", time: text(world.nowMs) }];
    const metadata = { ...set.metadata, generation: 2, managedFields };
    world.put("StatefulSet", { ...set, metadata, spec: { ...set.spec, replicas: 4 } });
    world.settle();
    await world.pass();
    world.nowMs += 1_000;
    await reach(world, "draining");
    for (const name of ["e-g0-2", "e-g0-3"]) {
      const pod = world.get("Pod", name);
      const crashing = { name: "engine", image: "", imageID: "", ready: false, restartCount: 3 };
      const state = { waiting: { reason: "CrashLoopBackOff" } };
      const conditions = [{ type: "Ready", status: "False" }];
      world.put("Pod", {
        ...pod,
        status: { phase: "Running", conditions, containerStatuses: [{ ...crashing, state }] },
      });
    }
    world.metrics = (pod) => (/-g0-[23]$/.test(pod) ? { status: 500, body: "" } : { status: 200, body: pageOf(0) });
    await world.pass();
    expect(world.status?.phase).toBe("cleaning");
    await world.rest();
    expect(world.status).toMatchObject({ phase: "stable", activeGeneration: 1 });
    expect(notes).toEqual([
      "Generation 1 replaces 0: kubectl changed spec.replicas of StatefulSet e-g0, not the FireboltEngine",
    ]);
  });

  test("a StatefulSet scaled to 0 by hand: the API server keeps no name, so the event reports how it was done", async () => {
    const world = await resting(undefined);
    const notes: string[] = [];
    world.note = (reason, note) => void (reason === "RolloutHeld" && notes.push(note));
    const set = world.get("StatefulSet", "e-g0");
    if (set?.spec === undefined) throw new Error("no e-g0");
    const fieldsV1 = { "f:spec": { "f:template": {} } };
    const managedFields = [
      { manager: "firebolt-operator", operation: "Update", fieldsV1, time: text(world.nowMs) },
      // An edit of something else, before.
      { manager: "kubectl-label", operation: "Update", fieldsV1: { "f:metadata": {} }, time: text(world.nowMs) },
    ];
    world.put("StatefulSet", {
      ...set,
      metadata: { ...set.metadata, generation: 2, managedFields },
      spec: { ...set.spec, replicas: 0 },
    });
    await world.pass();
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain(
      "StatefulSet e-g0 was edited by a client of the scale subresource (kubectl scale, an autoscaler) (spec.replicas), not through the FireboltEngine",
    );
  });

  test("is not started when the edit is undone, and is forgotten after ten quiet minutes", async () => {
    const world = await resting(undefined);
    const set = world.get("StatefulSet", "e-g0");
    const before = { ...set, metadata: { ...set?.metadata, creationTimestamp: text(world.nowMs) } };
    editStatefulSet(world, "e-g0");
    await world.pass();
    world.put("StatefulSet", before);
    world.nowMs += MINUTE;
    await world.pass();
    expect(world.status).toMatchObject({ phase: "stable", currentGeneration: 0 });
    expect(world.status?.heldRollout?.until).toBeUndefined();
    world.nowMs += 11 * MINUTE;
    await world.pass();
    expect(world.status).not.toHaveProperty("heldRollout");
  });

  test("does not hold up a change of the spec, nor a query that wakes the engine", async () => {
    const world = await resting({}, 0);
    editStatefulSet(world, "e-g0");
    await world.pass();
    expect(world.status?.heldRollout?.until).toBeDefined();
    world.stamp(world.nowMs);
    await world.pass();
    expect(world.replicas).toBe(2);
    await world.pass();
    expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 1 });
    expect(world.status).not.toHaveProperty("heldRollout");
  });

  test("a missing StatefulSet is replaced at once, the second time after a wait", async () => {
    const world = await resting(undefined);
    world.drop("StatefulSet", "e-g0");
    await world.pass();
    expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 1 });
    await world.rest();
    world.drop("StatefulSet", "e-g1");
    expect(await world.pass()).toEqual({ afterMs: 2_000 });
    world.nowMs += 2_000;
    await world.pass();
    expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 2 });
  });

  test("an edited annotation of ours counts as foreign too", async () => {
    const world = await resting(undefined);
    const set = world.get("StatefulSet", "e-g0");
    const annotations = { ...set?.metadata?.annotations, [ANNOTATION.engineClassHash]: "edited" };
    world.put("StatefulSet", { ...set, metadata: { ...set?.metadata, annotations } });
    expect(await world.pass()).toEqual({ afterMs: 1_000 });
    expect(world.status).toMatchObject({ phase: "stable" });
  });
});

test("a repair that is rejected does not keep a query from waking the engine", async () => {
  const world = await resting({}, 0);
  world.drop("ConfigMap", "e-g0-config");
  world.intercept = (request) => {
    if (request.startsWith("create ConfigMap")) throw new KubeApiError("create", 403, { reason: "Forbidden" });
  };
  world.stamp(world.nowMs);
  await world.pass();
  expect(world.replicas).toBe(2);
});

test("an engine is stopped only by a probe that began after its idle time was over", async () => {
  const world = await resting({ idleTimeout: "10m", pollInterval: "10m" });
  const began: number[] = [];
  const { queries } = world;
  const asked = (...args: Parameters<typeof queries>) => {
    began.push(args[2]?.sinceMs ?? 0);
    return queries.call(world, ...args);
  };
  Object.assign(world, { queries: asked });
  const dueMs = Date.parse(world.status?.lastActivityTime ?? "") + 10 * MINUTE;
  world.nowMs = dueMs - 1;
  await world.pass();
  world.nowMs = dueMs + 1_000;
  await world.pass();
  expect(world.replicas).toBe(0);
  expect(began).toEqual([0, dueMs]);
});

test("a generation caused by its class names the class", async () => {
  const world = await resting(undefined);
  const notes: string[] = [];
  world.note = (reason, note) => void (reason === "GenerationCreated" && notes.push(note));
  const ofClass = (reference: string) =>
    engineClass({ spec: { storage: {}, template: image(reference).template ?? {} } });
  world.put("FireboltEngineClass", ofClass("one:1"));
  world.edit({ engineClassRef: "c" });
  await world.rest();
  world.put("FireboltEngineClass", ofClass("two:1"));
  await world.rest();
  expect(notes).toHaveLength(2);
  expect(notes[1]).toBe('Generation 2 replaces 1: spec.template.spec.containers[0].image differs (class "c" changed)');
});
