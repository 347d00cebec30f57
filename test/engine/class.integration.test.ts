// Classes and the engines that name them: who rolls when a class changes, who is counted, and when a class may go. Also what an
// engine does when its class disappears under it.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { RECHECK_MS } from "../../src/engine/model/decision.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineHarness, image, openEngineHarness, readyOf } from "./support/engine-harness.ts";

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await openEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

async function openHarness(prefix: string, classes: readonly string[]): Promise<EngineHarness> {
  const harness = await openEngineHarness(plane, prefix);
  await harness.createInstance();
  await harness.operator();
  for (const name of classes) await harness.createClass(name);
  return harness;
}

const readClass = (harness: EngineHarness, name: string) =>
  harness.client.find(FireboltEngineClass, { namespace: harness.namespace, name });

const generationOf = (harness: EngineHarness, name: string) => harness.engine(name).status?.currentGeneration;

/** As an impatient administrator does it. */
async function forceRemoval(harness: EngineHarness, name: string): Promise<void> {
  await harness.client.delete(FireboltEngineClass, { namespace: harness.namespace, name });
  const patch = { type: "merge", body: { metadata: { finalizers: null } } } as const;
  await harness.client.patch(FireboltEngineClass, { namespace: harness.namespace, name }, patch);
  await eventually(async () => (await readClass(harness, name)) === undefined);
}

describe.concurrent("an edit", () => {
  test("class-template-edited, class-edit-rolls-once: of a class template rolls every engine that names it exactly once, at once, and no other", async () => {
    await using harness = await openHarness("class-template-edited", ["c", "d"]);
    const bound = ["a", "b"];
    for (const name of bound) await harness.createEngine(name, { engineClassRef: "c", replicas: 1 });
    await harness.createEngine("other", { engineClassRef: "d", replicas: 1 });
    await harness.createEngine("free", { replicas: 1 });
    await Promise.all([...bound, "other", "free"].map((name) => harness.settled(name, 0)));
    const editedMs = performance.now();
    await harness.editClass("c", image("two"));
    await Promise.all(
      bound.map((name) => harness.until(name, ({ status }) => status?.currentGeneration === 1, "rolls")),
    );
    // Not by the timer of engines that are as they should be.
    expect(performance.now() - editedMs).toBeLessThan(RECHECK_MS.settled / 2);
    await Promise.all(bound.map((name) => harness.settled(name, 1)));
    expect(["other", "free"].map((name) => generationOf(harness, name))).toEqual([0, 0]);
    expect(harness.statefulSet("a", 1)?.spec?.template.spec?.containers[0]?.image).toBe("example.com/engine:two");
    expect(harness.broken()).toEqual([]);
  });

  test("class-reference-cleared: clearing engineClassRef rolls a generation without the class", async () => {
    await using harness = await openHarness("class-reference-cleared", []);
    await harness.createClass("c", image("of-class"));
    await harness.createEngine("e", { engineClassRef: "c" });
    await harness.settled("e", 0);
    expect(harness.statefulSet("e", 0)?.metadata?.annotations).toHaveProperty("firebolt.io/engine-class-hash");
    await harness.edit("e", { engineClassRef: null });
    await harness.settled("e", 1);
    expect(harness.statefulSet("e", 1)?.metadata?.annotations ?? {}).not.toHaveProperty(
      "firebolt.io/engine-class-hash",
    );
    expect(harness.broken()).toEqual([]);
  });

  test("of a class that makes it unusable closes the gate with its name, and opens it again", async () => {
    await using harness = await openHarness("unready", ["c"]);
    await harness.createEngine("e", { engineClassRef: "c" });
    await harness.settled("e", 0);
    await harness.editClass("c", { template: { spec: { hostNetwork: true } } });
    const refused = await harness.until("e", (e) => readyOf(e)?.reason === "FireboltEngineClassUnready", "is rejected");
    expect(readyOf(refused)?.message).toContain('"c"');
    expect(refused.status).toMatchObject({ phase: "stable", currentGeneration: 0 });
    await harness.editClass("c", { template: { spec: { hostNetwork: null } } });
    await harness.settled("e", 0);
  });
});

describe.concurrent("the number of engines", () => {
  test("engine-changes-class, bound-count-converges: follows engines from one class to another, and engines that go", async () => {
    await using harness = await openHarness("engine-changes-class", ["c", "d"]);
    const counts = async () => {
      const found = await Promise.all(["c", "d"].map((name) => readClass(harness, name)));
      return found.map((each) => each?.status?.boundEngines);
    };
    const become = (wanted: readonly number[]) =>
      eventually(
        async () => {
          expect(await counts()).toEqual(wanted);
        },
        // The timer of a class at rest is 30 s, from the last count on.
        { timeoutMs: 25_000 },
      );
    await become([0, 0]);
    await harness.createEngine("a", { engineClassRef: "c", replicas: 0 });
    await harness.createEngine("b", { engineClassRef: "c", replicas: 0 });
    await become([2, 0]);
    await harness.edit("a", { engineClassRef: "d" });
    await become([1, 1]);
    await harness.client.delete(FireboltEngine, { namespace: harness.namespace, name: "b" });
    await become([0, 1]);
  });

  test("bound-class-deleted, bound-class-never-released: blocks the deletion while it is not zero, reports it, and releases the class when it is", async () => {
    await using harness = await openHarness("bound-class-deleted", ["c"]);
    await harness.createEngine("a", { engineClassRef: "c", replicas: 0 });
    await harness.createEngine("b", { engineClassRef: "c", replicas: 0 });
    await Promise.all([harness.settled("a", 0), harness.settled("b", 0)]);
    await harness.client.delete(FireboltEngineClass, { namespace: harness.namespace, name: "c" });
    const held = await eventually(async () => {
      const found = await readClass(harness, "c");
      const ready = found?.status?.conditions?.find(({ type }) => type === "Ready");
      return ready?.reason === "DeletionBlocked" && found !== undefined && { ready, status: found.status };
    });
    expect(held.status?.boundEngines).toBe(2);
    expect(held.ready.message).toContain("2 engines");
    // Held, but usable: the engines are not disturbed.
    expect(readyOf(harness.engine("a"))?.reason).toBe("Stopped");
    await harness.edit("a", { engineClassRef: null });
    await harness.client.delete(FireboltEngine, { namespace: harness.namespace, name: "b" });
    await eventually(async () => (await readClass(harness, "c")) === undefined, { timeoutMs: 90_000 });
  });
});

describe.concurrent("a class that vanishes", () => {
  test("class-removed-while-draining, gates-before-the-switch-only: during a drain does not stop the rollout; afterwards it is reported", async () => {
    await using harness = await openHarness("class-removed-while-draining", ["c"]);
    await harness.createEngine("e", { engineClassRef: "c", drainCheckInterval: "1s" });
    await harness.settled("e", 0);
    harness.queries(harness.pods("e", 0)[0], { running: 1 });
    await harness.edit("e", image("two"));
    await harness.until("e", ({ status }) => status?.phase === "draining", "drains");
    await forceRemoval(harness, "c");
    harness.queries(harness.pods("e", 0)[0], {});
    const resting = await harness.until(
      "e",
      (e) => readyOf(e)?.reason === "FireboltEngineClassUnready",
      "misses its class",
    );
    expect(readyOf(resting)?.message).toContain('"c" not found');
    expect(resting.status).toMatchObject({ phase: "stable", activeGeneration: 1 });
    await eventually(() => harness.statefulSet("e", 0) === undefined);
    expect(harness.broken()).toEqual([]);
  });

  test("class-gate: a missing class is reported at rest, pods untouched; recreated, the engine continues", async () => {
    await using harness = await openHarness("gone", ["c"]);
    await harness.createEngine("e", { engineClassRef: "c" });
    await harness.settled("e", 0);
    await forceRemoval(harness, "c");
    const blind = await harness.until(
      "e",
      (e) => readyOf(e)?.reason === "FireboltEngineClassUnready",
      "misses its class",
    );
    expect(blind.status).toMatchObject({ phase: "stable", currentGeneration: 0 });
    expect(harness.pods("e", 0)).toHaveLength(2);
    await harness.createClass("c");
    await harness.settled("e", 0);
    expect(harness.broken()).toEqual([]);
  });
});

describe.concurrent("a class whose name is longer than a label value", () => {
  test.each([64, 253])("%i characters: judged, edited, held while an engine names it, deleted", async (length) => {
    await using harness = await openHarness("long", []);
    const name = "c".repeat(length);
    const key = { namespace: harness.namespace, name };
    const reads = (reason: string, observedGeneration: number) =>
      eventually(async () => {
        const status = (await readClass(harness, name))?.status;
        expect(status).toMatchObject({ observedGeneration, conditions: [{ type: "Ready", reason }] });
      });
    await harness.createClass(name);
    await reads("Admissible", 1);
    await harness.editClass(name, { template: { spec: { hostNetwork: true } } });
    await reads("OperatorOwnedFieldSet", 2);
    await harness.editClass(name, { template: { spec: null } });
    await reads("Admissible", 3);
    await harness.createEngine("e", { engineClassRef: name, replicas: 0 });
    await harness.client.delete(FireboltEngineClass, key);
    await reads("DeletionBlocked", 4);
    await harness.client.delete(FireboltEngine, { namespace: harness.namespace, name: "e" });
    await eventually(async () => expect(await readClass(harness, name)).toBeUndefined());
  });
});
