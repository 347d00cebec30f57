import type { NextCheck } from "@firebolt-operator/kube/controller";
import { expect, test } from "vitest";
import { cluster, image, stable } from "../../../test/engine/support/fake-cluster.ts";
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";

const GAUGE = ENGINE_CONTRACT.gauges;

test("created-from-nothing: create → Ready in nine requests and an event, in the order that a crash at any point survives", async () => {
  const world = cluster();
  await world.run();
  expect(world.taken()).toEqual([
    "finalizer FireboltEngine e",
    "status FireboltEngine e",
    "create ConfigMap e-g0-config",
    "create Service e-g0-hl",
    "create StatefulSet e-g0",
    "route Service e-service to 0",
    "status FireboltEngine e",
    "status FireboltEngine e",
    "status FireboltEngine e",
  ]);
  expect(world.status).toMatchObject({
    phase: "stable",
    currentGeneration: 0,
    activeGeneration: 0,
    observedGeneration: 1,
  });
  expect(world.ready).toMatchObject({ status: "True", reason: "EngineReady" });
  expect(world.events).toEqual(["EngineReady"]);
});

test("created-with-zero-replicas: created with zero replicas it ends stopped", async () => {
  const world = await stable({ replicas: 0 });
  expect(world.status).toMatchObject({ phase: "stopped", activeGeneration: 0 });
  expect(world.ready).toMatchObject({
    status: "False",
    reason: "Stopped",
    message: "Engine is stopped (spec.replicas is 0)",
  });
});

test("no-needless-write, idle-engines-start-no-pass: at rest a pass requests and writes nothing", async () => {
  const world = await stable();
  expect(await world.pass()).toEqual({ afterMs: 240_000 });
  expect(world.taken()).toEqual([]);
});

test("image-changed: a graceful roll of one replica in fourteen requests and three events", async () => {
  const world = await stable({ replicas: 1 });
  world.edit(image("new:1"));
  world.events.length = 0;
  await world.run();
  expect(world.taken()).toEqual([
    "status FireboltEngine e",
    "create ConfigMap e-g1-config",
    "create Service e-g1-hl",
    "create StatefulSet e-g1",
    "status FireboltEngine e",
    "route Service e-service to 1",
    "status FireboltEngine e",
    "scrape Pod e-g0-0",
    "status FireboltEngine e",
    "get Service e-service",
    "delete StatefulSet e-g0",
    "delete Service e-g0-hl",
    "delete ConfigMap e-g0-config",
    "status FireboltEngine e",
  ]);
  expect(world.status).toMatchObject({
    phase: "stable",
    currentGeneration: 1,
    activeGeneration: 1,
    observedGeneration: 2,
  });
  expect(world.status).not.toHaveProperty("drainingGeneration");
  expect(world.names("StatefulSet")).toEqual(["e-g1"]);
  expect(world.events).toEqual(["GenerationCreated", "TrafficSwitched", "EngineReady"]);
});

test("stopped-by-hand, started-by-hand: stop and start through a generation without pods", async () => {
  const world = await stable({ replicas: 1 });
  world.events.length = 0;
  world.edit({ replicas: 0 });
  await world.run();
  expect(world.status).toMatchObject({ phase: "stopped", activeGeneration: 1 });
  expect(world.events).toEqual(["GenerationCreated", "TrafficSwitched", "GenerationCleaned"]);
  // Seventeen with the events, as many as a roll may cost.
  expect(world.taken()).toHaveLength(14);
  world.edit({ replicas: 2 });
  await world.run();
  expect(world.status).toMatchObject({ phase: "stable", activeGeneration: 2 });
  expect(world.taken().filter((request) => request.startsWith("scrape"))).toEqual([]);
});

test("drain-with-busy-pod, drain-with-silent-pod: the drain holds while a pod is busy or silent, reported once, and recovers", async () => {
  const world = await stable();
  world.edit(image("new:1"));
  world.metrics = () => ({ status: 200, body: `${GAUGE.running} 1\n${GAUGE.suspended} 0` });
  let next: NextCheck = "requeue";
  for (let pass = 0; pass < 10 && next !== "onChange"; pass++) {
    world.nowMs += 2_000;
    next = await world.pass();
    world.settle();
  }
  expect(world.status).toMatchObject({ phase: "draining", drainingGeneration: 0 });
  expect(next).toEqual({ afterMs: 5_000 });
  world.metrics = () => ({ status: 500, body: "" });
  for (let pass = 0; pass < 3; pass++) expect(await world.pass()).toEqual({ afterMs: 5_000 });
  expect(world.ready).toMatchObject({ reason: "DrainCheckFailing", message: expect.stringContaining("e-g0-0") });
  expect(world.events.filter((event) => event.startsWith("Drain"))).toEqual(["DrainStarted", "DrainCheckFailing"]);
  expect(world.names("Pod")).toContain("e-g0-1");
  world.metrics = () => ({ status: 200, body: `${GAUGE.running} 0\n${GAUGE.suspended} 0` });
  await world.run();
  expect(world.status).toMatchObject({ phase: "stable", activeGeneration: 1 });
});

test("edited-while-creating, reverted-while-creating: an edit while creating abandons the generation; the number is never reused", async () => {
  const world = await stable();
  world.edit(image("bad:1"));
  await world.pass();
  await world.pass();
  world.settle(false);
  world.taken();
  world.edit(image("good:1"));
  expect(await world.pass()).toBe("requeue");
  expect(world.taken()).toEqual([
    "get FireboltEngine e",
    "get Service e-service",
    "delete StatefulSet e-g1",
    "delete Service e-g1-hl",
    "delete ConfigMap e-g1-config",
    "status FireboltEngine e",
  ]);
  expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 2, activeGeneration: 0 });
  await world.run();
  expect(world.status).toMatchObject({ phase: "stable", activeGeneration: 2 });
  expect(world.events).toContain("GenerationAbandoned");
});

test("pods-lost-before-switch: pods lost between readiness and the flip send the engine back to creating", async () => {
  const world = await stable();
  world.edit(image("one:1"));
  while (world.status?.phase !== "switching") {
    await world.pass();
    world.settle();
  }
  world.settle(false);
  expect(await world.pass()).toEqual({ afterMs: 5_000 });
  expect(world.status).toMatchObject({ phase: "creating", currentGeneration: 1, activeGeneration: 0 });
  expect(world.get("Service", "e-service")?.spec?.selector?.["firebolt.io/generation"]).toBe("0");
});

test("a Service that lost its labels is found and labelled again", async () => {
  const world = await stable();
  const service = world.get("Service", "e-service");
  world.drop("Service", "e-service");
  world.freeze();
  world.put("Service", { ...service, metadata: { ...service?.metadata, labels: {} } });
  await world.pass();
  world.thaw();
  expect(world.get("Service", "e-service")?.metadata?.labels).toEqual({ "firebolt.io/engine": "e" });
});

test("the number of a generation that was switched back from is not used again", async () => {
  const world = await stable(image("old:1"));
  world.edit(image("new:1"));
  while (world.status?.phase !== "draining") {
    await world.pass();
    world.settle();
  }
  world.edit(image("old:1"));
  await world.run();
  expect(world.status).toMatchObject({ phase: "stable", currentGeneration: 0, highestGeneration: 1 });
  world.edit(image("newer:1"));
  await world.run();
  expect(world.status).toMatchObject({ phase: "stable", currentGeneration: 2 });
  expect(world.status?.highestGeneration).toBeUndefined();
});
