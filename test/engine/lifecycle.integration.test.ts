// Engines from nothing to serving, and the changes people make to them, on a real control plane with the real StatefulSet
// controller. Everything is judged by what the API server stored, in the order in which it stored it.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { OPERATOR_DEFAULTS } from "../../src/api/operator-defaults.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineHarness, image, openEngineHarness, readyOf } from "./support/engine-harness.ts";
import { phasesOf, readyReasonsOf } from "./support/history-views.ts";

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await openEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

/** A namespace with a usable instance and an operator. */
async function openHarness(prefix: string): Promise<EngineHarness> {
  const harness = await openEngineHarness(plane, prefix);
  await harness.createInstance();
  await harness.operator();
  return harness;
}

describe.concurrent("create", () => {
  test("created-from-nothing, initialise, build, pods-ready, first-rest, verify: a new engine is created, switched to and Ready; it never drains", async () => {
    await using harness = await openHarness("created-from-nothing");
    await harness.createEngine("e");
    const settled = await harness.settled("e", 0);
    expect(settled.status).toMatchObject({ phase: "stable", currentGeneration: 0, activeGeneration: 0 });
    expect(phasesOf(harness, "e")).toEqual(["creating", "switching", "stable"]);
    expect(readyReasonsOf(harness, "e")).toEqual(["Initializing", "Rolling", "EngineReady"]);
    expect(harness.target("e")).toBe(0);
    expect(harness.pods("e", 0)).toHaveLength(2);
    expect(harness.broken()).toEqual([]);
  });

  test("foreign-objects-untouched: every child has the engine as its controller, and its labels", async () => {
    await using harness = await openHarness("foreign-objects-untouched");
    await harness.createEngine("e");
    const { metadata } = await harness.settled("e", 0);
    const children = [
      ...harness.history.present("StatefulSet"),
      ...harness.history.present("Service"),
      ...harness.history.present("ConfigMap").filter(({ metadata: { name } = {} }) => name !== "kube-root-ca.crt"),
    ];
    expect(children.map((child) => child.metadata?.name)).toEqual(["e-g0", "e-g0-hl", "e-service", "e-g0-config"]);
    for (const child of children) {
      expect(child.metadata?.labels?.["firebolt.io/engine"]).toBe("e");
      expect(child.metadata?.ownerReferences).toMatchObject([
        { kind: "FireboltEngine", name: "e", uid: metadata?.uid, controller: true },
      ]);
    }
  });

  test("created-with-zero-replicas: created with zero replicas it ends stopped, with an empty StatefulSet", async () => {
    await using harness = await openHarness("created-with-zero-replicas");
    await harness.createEngine("e", { replicas: 0 });
    const settled = await harness.settled("e", 0);
    expect(settled.status?.phase).toBe("stopped");
    expect(readyOf(settled)).toMatchObject({
      status: "False",
      reason: "Stopped",
      message: "Engine is stopped (spec.replicas is 0)",
    });
    expect(harness.statefulSet("e", 0)?.spec?.replicas).toBe(0);
    expect(harness.broken()).toEqual([]);
  });

  test("created-before-instance, instance-gate, no-config-without-instance: without an instance nothing is created; when it is usable, everything is", async () => {
    await using harness = await openEngineHarness(plane, "created-before-instance");
    await harness.operator();
    await harness.createEngine("e");
    const waiting = await harness.until(
      "e",
      (e) => readyOf(e)?.reason === "InstanceNotReady",
      "waits for its instance",
    );
    expect(waiting.status).toMatchObject({ phase: "creating", currentGeneration: 0, activeGeneration: -1 });
    expect(waiting.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "InstanceReady", status: "False", reason: "InstanceNotReady" }),
    );
    await harness.createInstance("");
    const seesInstance = (e: FireboltEngine) => readyOf(e)?.message?.includes("no metadata endpoint") === true;
    await harness.until("e", seesInstance, "sees the instance");
    expect(harness.history.present("StatefulSet")).toEqual([]);
    await harness.setEndpoint("metadata.example:7000");
    await eventually(() => harness.statefulSet("e", 0) !== undefined);
    await harness.settled("e", 0);
    expect(harness.history.latest("ConfigMap", "e-g0-config")?.data?.["config.yaml"]).toContain(
      "metadata.example:7000",
    );
    expect(harness.broken()).toEqual([]);
  });

  test("edited-before-first-switch: an edit before the first generation served abandons it; the Service follows at the switch", async () => {
    await using harness = await openHarness("edited-before-first-switch");
    await harness.createEngine("e", { template: { spec: { nodeSelector: harness.hold } } });
    await eventually(() => harness.pods("e", 0).length === 2 && harness.target("e") === 0);
    await harness.edit("e", { template: null });
    const settled = await harness.settled("e", 1);
    expect(settled.status).toMatchObject({ activeGeneration: 1 });
    expect(phasesOf(harness, "e")).not.toContain("draining");
    expect(phasesOf(harness, "e")).not.toContain("cleaning");
    expect(harness.target("e")).toBe(1);
    const actives = new Set(
      harness.history.of("FireboltEngine", "e").flatMap(({ object: { status } }) => status?.activeGeneration ?? []),
    );
    expect([...actives]).toEqual([-1, 1]);
    expect(harness.broken()).toEqual([]);
  });
});

describe.concurrent("change", () => {
  test("image-changed, bump, switch-service, start-drain, drained, clean: an image change writes the number first, flips once and cleans up", async () => {
    await using harness = await openHarness("image-changed");
    await harness.createEngine("e");
    await harness.settled("e", 0);
    await harness.edit("e", image("two"));
    await harness.settled("e", 1);
    expect(phasesOf(harness, "e").slice(2)).toEqual([
      "stable",
      "creating",
      "switching",
      "draining",
      "cleaning",
      "stable",
    ]);
    const intent = harness.history
      .of("FireboltEngine", "e")
      .find(({ object }) => object.status?.currentGeneration === 1);
    expect(intent?.object.status).toMatchObject({ phase: "creating", activeGeneration: 0 });
    const firstOfNew = harness.history
      .all()
      .find(({ object }) => object.metadata?.labels?.["firebolt.io/generation"] === "1");
    expect(intent?.version).toBeLessThan(firstOfNew?.version ?? 0n);
    const targets = harness.history
      .of("Service", "e-service")
      .map(({ object }) => object.spec?.selector?.["firebolt.io/generation"]);
    expect(targets).toEqual(["0", "1"]);
    expect(harness.statefulSet("e", 1)?.spec?.template.spec?.containers[0]?.image).toBe("example.com/engine:two");
    expect(harness.broken()).toEqual([]);
  });

  test("scaled-up, scaled-down: scaling builds a new generation of the new size before the flip, up and down", async () => {
    await using harness = await openHarness("scaled-up");
    await harness.createEngine("e");
    await harness.settled("e", 0);
    await harness.edit("e", { replicas: 4 });
    await harness.settled("e", 1);
    expect(harness.pods("e", 1)).toHaveLength(4);
    await harness.edit("e", { replicas: 1 });
    await harness.settled("e", 2);
    expect(harness.pods("e", 2)).toHaveLength(1);
    const built = harness.history.of("Pod", "e-g2-0").find(({ object }) => object.status?.podIP !== undefined);
    const flip = harness.history
      .of("Service", "e-service")
      .find(({ object }) => object.spec?.selector?.["firebolt.io/generation"] === "2");
    expect(built?.version).toBeLessThan(flip?.version ?? 0n);
    expect(harness.broken()).toEqual([]);
  });

  test("stopped-by-hand, started-by-hand: stopping goes through an empty generation, starting through a full one, without waiting for a drain", async () => {
    await using harness = await openEngineHarness(plane, "stopped-by-hand");
    await harness.createInstance();
    const operator = await harness.operator();
    await harness.createEngine("e");
    await harness.settled("e", 0);
    await harness.edit("e", { replicas: 0 });
    const stopped = await harness.settled("e", 1);
    expect(stopped.status?.phase).toBe("stopped");
    expect(readyOf(stopped)).toMatchObject({ status: "False", reason: "Stopped" });
    expect(harness.target("e")).toBe(1);
    expect(harness.pods("e", 0)).toEqual([]);
    await harness.edit("e", { replicas: 2 });
    const started = await harness.settled("e", 2);
    expect(started.status?.phase).toBe("stable");
    expect(harness.target("e")).toBe(2);
    expect(harness.broken()).toEqual([]);
    expect(operator.log.filter(({ level }) => level === "error")).toEqual([]);
  });

  test.each([
    {
      name: "drain-check-off, skip-drain: drainCheckEnabled: false",
      engine: { drainCheckEnabled: false },
      engineClass: undefined,
    },
    {
      name: "recreate-from-class: recreate from the class",
      engine: { engineClassRef: "c" },
      engineClass: { rollout: "recreate" },
    },
    { name: "rollout: recreate", engine: { rollout: "recreate" }, engineClass: undefined },
  ] as const)("$name goes from switching to cleaning", async ({ engine, engineClass }) => {
    await using harness = await openHarness("drain-check-off");
    if (engineClass !== undefined) await harness.createClass("c", engineClass);
    await harness.createEngine("e", engine);
    await harness.settled("e", 0);
    harness.queries(harness.pods("e", 0)[0], { running: 3 });
    await harness.edit("e", image("two"));
    await harness.settled("e", 1);
    expect(phasesOf(harness, "e").slice(3)).toEqual(["creating", "switching", "cleaning", "stable"]);
    expect(harness.broken()).toEqual([]);
  });

  test("recreate-from-class: the engine's graceful overrides the class's recreate", async () => {
    await using harness = await openHarness("recreate-from-class");
    await harness.createClass("c", { rollout: "recreate" });
    await harness.createEngine("e", { engineClassRef: "c", rollout: "graceful" });
    await harness.settled("e", 0);
    await harness.edit("e", image("two"));
    await harness.settled("e", 1);
    expect(phasesOf(harness, "e")).toContain("draining");
  });

  test("settings-only-edited, equal-configuration-rewritten: settings, key order and operator-owned keys roll nothing, and are confirmed", async () => {
    await using harness = await openHarness("settings-only-edited");
    await harness.createEngine("e", { customEngineConfig: { a: { x: 1, y: 2 }, b: true } });
    await harness.settled("e", 0);
    const edits = [
      { drainCheckInterval: "7s" },
      { rollout: "recreate" },
      { customEngineConfig: { b: true, a: { y: 2, x: 1 }, engine: { id: "mine" } } },
    ];
    for (const spec of edits) {
      await harness.edit("e", spec);
      await harness.settled("e", 0);
    }
    expect(harness.engine("e").status?.observedGeneration).toBe(4);
    expect(harness.history.of("StatefulSet").filter(({ name }) => name !== "e-g0")).toEqual([]);
    expect(harness.broken()).toEqual([]);
  });

  test("volumes-edited, whole-template-compared: volumes and pull secrets alone roll a generation, once", async () => {
    await using harness = await openHarness("volumes-edited");
    await harness.createEngine("e");
    await harness.settled("e", 0);
    await harness.edit("e", { template: { spec: { volumes: [{ name: "scratch", emptyDir: {} }] } } });
    await harness.settled("e", 1);
    await harness.edit("e", { template: { spec: { imagePullSecrets: [{ name: "registry" }] } } });
    await harness.settled("e", 2);
    expect(harness.broken()).toEqual([]);
  });

  test("one-pod-not-ready: a pod that is not ready shows as PodsNotReady, the phase stays, and Ready comes back", async () => {
    await using harness = await openHarness("one-pod-not-ready");
    await harness.createEngine("e");
    await harness.settled("e", 0);
    const [pod] = harness.pods("e", 0);
    if (pod === undefined) throw new Error("no pod");
    await harness.setPodReady(pod, false);
    const lame = await harness.until("e", (e) => readyOf(e)?.reason === "PodsNotReady", "shows the pod");
    expect(readyOf(lame)?.message).toContain("1 of 2");
    expect(lame.status).toMatchObject({ phase: "stable", currentGeneration: 0 });
    await harness.setPodReady(pod, true);
    await harness.settled("e", 0);
  });

  test("default-image-changed: an operator with another default image rolls the engines that inherit it, and no pinned one", async () => {
    await using harness = await openEngineHarness(plane, "default-image-changed");
    await harness.createInstance();
    const before = await harness.operator();
    await harness.createEngine("inherits");
    await harness.createEngine("pinned", image("one"));
    await Promise.all([harness.settled("inherits", 0), harness.settled("pinned", 0)]);
    await before.stop();
    const images = { ...OPERATOR_DEFAULTS.images, engine: "example.com/engine:next" };
    await harness.operator({ defaults: { ...OPERATOR_DEFAULTS, images } });
    await harness.settled("inherits", 1);
    expect(harness.statefulSet("inherits", 1)?.spec?.template.spec?.containers[0]?.image).toBe(
      "example.com/engine:next",
    );
    expect(harness.engine("pinned").status?.currentGeneration).toBe(0);
    expect(harness.broken()).toEqual([]);
  });
});
