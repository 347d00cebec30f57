// Disturbed rollouts: specs that change in every phase, pods and instances that are lost, edits that race with the
// operator. Traffic must stay on a generation that serves, and every engine must come to rest.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { services, statefulSets } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import type { WriteCall } from "../harness/operator/write-tap.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineHarness, image, openEngineHarness, readyOf } from "./support/engine-harness.ts";
import { generationsOf, targetsOf } from "./support/history-views.ts";

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await openEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

const DRAIN = { drainCheckInterval: "1s" };

/** A namespace with an operator and an engine `e`, at rest on generation 0. */
async function openHarness(prefix: string, spec: object = {}): Promise<EngineHarness> {
  const harness = await openEngineHarness(plane, prefix);
  await harness.createInstance();
  await harness.operator();
  await harness.createEngine("e", { ...DRAIN, ...spec });
  await harness.settled("e", 0);
  return harness;
}

/** A generation 1 whose pods cannot be scheduled until `release`. */
async function openCreating(prefix: string): Promise<EngineHarness> {
  const harness = await openHarness(prefix);
  await harness.edit("e", { template: { spec: { nodeSelector: harness.hold } } });
  await eventually(() => harness.pods("e", 1).length === 2);
  return harness;
}

describe.concurrent("a spec that changes while creating", () => {
  test("edited-while-creating, abandon: the pending generation is abandoned, the old one keeps serving, the next one takes over", async () => {
    await using harness = await openCreating("edited-while-creating");
    expect(harness.target("e")).toBe(0);
    await harness.edit("e", { template: null, replicas: 3 });
    await harness.settled("e", 2);
    expect(generationsOf(harness, "e")).toEqual([0, 1, 2]);
    expect(targetsOf(harness, "e")).toEqual(["0", "2"]);
    expect(harness.broken()).toEqual([]);
  });

  test("five-edits-in-a-row, orphans-swept: five edits in a row end on the last spec; besides the serving one, one generation exists at a time", async () => {
    await using harness = await openCreating("five-edits-in-a-row");
    for (const tag of ["a", "b", "c", "d", "e"])
      await harness.edit("e", { template: { spec: { nodeSelector: harness.hold, ...image(tag).template.spec } } });
    const { currentGeneration = -1 } =
      (
        await harness.until(
          "e",
          (e) => readyOf(e)?.observedGeneration === e.metadata?.generation,
          "has seen the last edit",
        )
      ).status ?? {};
    await harness.release();
    const last = await eventually(async () => {
      const { status } = harness.engine("e");
      return (await harness.settled("e", status?.currentGeneration ?? -1, 1_000)).status?.currentGeneration ?? -1;
    });
    expect(last).toBeGreaterThanOrEqual(currentGeneration);
    expect(harness.statefulSet("e", last)?.spec?.template.spec?.containers[0]?.image).toBe("example.com/engine:e");
    expect(targetsOf(harness, "e")).toEqual(["0", String(last)]);
    expect(newGenerationsAtOnce(harness)).toBe(1);
    expect(harness.broken()).toEqual([]);
  });

  test("reverted-while-creating: reverting to the old spec creates a new generation; traffic never returns to the old generation's number", async () => {
    await using harness = await openCreating("reverted-while-creating");
    await harness.edit("e", { template: null });
    await harness.settled("e", 2);
    expect(targetsOf(harness, "e")).toEqual(["0", "2"]);
    expect(harness.broken()).toEqual([]);
  });

  test("traffic-on-doomed-generation: traffic that already points at the abandoned generation is switched back before its objects are deleted", async () => {
    await using harness = await openCreating("traffic-on-doomed-generation");
    const patch = { type: "merge", body: { spec: { selector: { "firebolt.io/generation": "1" } } } } as const;
    await harness.client.patch(services, { namespace: harness.namespace, name: "e-service" }, patch);
    await harness.edit("e", { template: { spec: { nodeSelector: null, ...image("three").template.spec } } });
    await harness.settled("e", 2);
    expect(targetsOf(harness, "e")).toEqual(["0", "1", "0", "2"]);
    const back = harness.history
      .of("Service", "e-service")
      .filter(({ object }) => object.spec?.selector?.["firebolt.io/generation"] === "0")
      .at(-1);
    const doomed = harness.history
      .of("StatefulSet", "e-g1")
      .find(({ object, change }) => change === "removed" || object.metadata?.deletionTimestamp !== undefined);
    expect(back?.version).toBeLessThan(doomed?.version ?? 0n);
    expect(harness.broken({ routing: true })).toEqual([]);
  });

  test("stateful-set-unseen-by-cache: a StatefulSet that another client created meanwhile is not patched; the next pass abandons it", async () => {
    await using harness = await openEngineHarness(plane, "stateful-set-unseen-by-cache");
    await harness.createInstance();
    let raced = false;
    const before = async ({ text }: WriteCall) => {
      if (text !== "create StatefulSet e-g1" || raced) return;
      raced = true;
      // A former leader's create, which this operator's cache has not shown yet, and an edit on top of it.
      const old = harness.statefulSet("e", 0);
      const { name: _, uid: __, resourceVersion: ___, ...metadata } = old?.metadata ?? {};
      const labels = { "firebolt.io/engine": "e", "firebolt.io/generation": "1" };
      const spec = {
        ...old?.spec,
        selector: { matchLabels: labels },
        template: { ...old?.spec?.template, metadata: { labels } },
      };
      await harness.client.create(statefulSets, {
        metadata: { ...metadata, name: "e-g1", labels },
        spec: { ...spec, serviceName: "e-g1-hl", template: { ...spec.template, spec: old?.spec?.template.spec } },
      } as never);
      await harness.edit("e", image("later"));
    };
    await harness.operator({ tap: { before } });
    await harness.createEngine("e", DRAIN);
    await harness.settled("e", 0);
    await harness.edit("e", image("two"));
    await harness.settled("e", 2);
    expect(raced).toBe(true);
    expect(harness.statefulSet("e", 2)?.spec?.template.spec?.containers[0]?.image).toBe("example.com/engine:later");
    expect(
      harness.history.of("StatefulSet", "e-g1").every(({ object }) => (object.metadata?.generation ?? 1) <= 2),
    ).toBe(true);
    const specs = harness.history.of("StatefulSet", "e-g1").map(({ object }) => JSON.stringify(object.spec));
    expect(new Set(specs).size).toBe(1);
  });
});

/** How many generations above the active one were there at the same time and not on their way out. */
function newGenerationsAtOnce(harness: EngineHarness): number {
  const alive = new Map<string, number>();
  let most = 0;
  for (const { name, object, change } of harness.history.of("StatefulSet")) {
    const generation = Number(object.metadata?.labels?.["firebolt.io/generation"]);
    if (change === "removed" || object.metadata?.deletionTimestamp !== undefined) alive.delete(name);
    else if (generation > 0) alive.set(name, generation);
    most = Math.max(most, alive.size);
  }
  return most;
}

describe.concurrent("disturbed", () => {
  test.each([
    { phase: "switching", write: "patch Service e-service" },
    { phase: "cleaning", write: "delete StatefulSet e-g0" },
  ])(
    "no-bump-mid-rollout, every-edit-runs: an edit in the middle of $phase waits for the end, and costs one bump",
    async ({ phase, write }) => {
      await using harness = await openEngineHarness(plane, phase);
      await harness.createInstance();
      let seen = "";
      const before = async ({ text }: WriteCall) => {
        if (text !== write || seen !== "") return;
        const key = { namespace: harness.namespace, name: "e" };
        seen = (await harness.client.get(FireboltEngine, key)).status?.phase ?? "";
        await harness.edit("e", { replicas: 3 });
      };
      await harness.operator({ tap: { before } });
      await harness.createEngine("e", DRAIN);
      await harness.settled("e", 0);
      await harness.edit("e", image("two"));
      await harness.until("e", ({ metadata }) => metadata?.generation === 3, "was edited");
      await harness.settled("e", 2);
      expect(seen).toBe(phase);
      expect(generationsOf(harness, "e")).toEqual([0, 1, 2]);
      expect(targetsOf(harness, "e")).toEqual(["0", "1", "2"]);
      expect(harness.pods("e", 2)).toHaveLength(3);
      expect(harness.broken()).toEqual([]);
    },
  );

  test("instance-deleted-under-engines: an instance deleted under an engine at rest leaves it running, and its return makes it Ready again", async () => {
    await using harness = await openHarness("instance-deleted-under-engines");
    const before = harness.pods("e", 0).map(({ metadata }) => metadata?.uid);
    await harness.client.delete(FireboltInstance, { namespace: harness.namespace, name: "main" });
    const orphaned = await harness.until("e", (e) => readyOf(e)?.reason === "InstanceNotReady", "misses its instance");
    expect(orphaned.status).toMatchObject({ phase: "stable", currentGeneration: 0, activeGeneration: 0 });
    await harness.createInstance();
    await harness.settled("e", 0);
    expect(harness.pods("e", 0).map(({ metadata }) => metadata?.uid)).toEqual(before);
    expect(harness.broken()).toEqual([]);
  });

  test("routing-service-deleted-while-creating, lost-service-names-active: the routing Service deleted while creating comes back, selecting the generation that serves", async () => {
    await using harness = await openCreating("routing-service-deleted-while-creating");
    await harness.client.delete(services, { namespace: harness.namespace, name: "e-service" });
    await eventually(
      () => harness.history.of("Service", "e-service").at(-1)?.change === "stored" && harness.target("e") === 0,
    );
    expect(harness.engine("e").status).toMatchObject({ phase: "creating", currentGeneration: 1 });
    await harness.release();
    await harness.settled("e", 1);
    expect(harness.broken()).toEqual([]);
  });

  test("pods-lost-before-switch, step-back: pods lost between readiness and the flip send it back to creating; traffic stays", async () => {
    await using harness = await openEngineHarness(plane, "pods-lost-before-switch");
    await harness.createInstance();
    const reached = Promise.withResolvers<void>();
    const never = new Promise<void>(() => undefined);
    const before = ({ text }: WriteCall) => {
      if (text !== "patch Service e-service") return undefined;
      reached.resolve();
      return never;
    };
    const setup = await harness.operator();
    await harness.createEngine("e", DRAIN);
    await harness.settled("e", 0);
    await setup.stop();
    const doomed = harness.operator({ tap: { before } });
    await harness.edit("e", image("two"));
    await reached.promise;
    (await doomed).abandon();
    await harness.until("e", (e) => e.status?.phase === "switching", "was about to flip");
    for (const pod of harness.pods("e", 1)) await harness.setPodReady(pod, false);
    await harness.operator();
    await harness.until("e", (e) => e.status?.phase === "creating", "returns to creating");
    expect(harness.target("e")).toBe(0);
    for (const pod of harness.pods("e", 1)) await harness.setPodReady(pod, true);
    await harness.settled("e", 1);
    expect(targetsOf(harness, "e")).toEqual(["0", "1"]);
    expect(harness.broken()).toEqual([]);
  });

  test("metadata-endpoint-lost, closed-gate-changes-conditions-only: a lost endpoint changes conditions only; an edit made meanwhile starts when it is back", async () => {
    await using harness = await openHarness("metadata-endpoint-lost");
    await harness.setEndpoint("");
    const blind = await harness.until("e", (e) => readyOf(e)?.reason === "InstanceNotReady", "misses its instance");
    expect(blind.status).toMatchObject({ phase: "stable", currentGeneration: 0, activeGeneration: 0 });
    await harness.edit("e", image("two"));
    await harness.until("e", (e) => readyOf(e)?.observedGeneration === 2, "has seen the edit");
    expect(harness.engine("e").status?.currentGeneration).toBe(0);
    expect(harness.pods("e", 0)).toHaveLength(2);
    await harness.setEndpoint("metadata.example:7000");
    await harness.settled("e", 1);
    expect(harness.broken()).toEqual([]);
  });

  test("metadata-endpoint-lost: an instance lost while creating pauses the rollout, which continues afterwards", async () => {
    await using harness = await openCreating("metadata-endpoint-lost-again");
    await harness.setEndpoint("");
    await harness.until("e", (e) => readyOf(e)?.reason === "InstanceNotReady", "misses its instance");
    await harness.release();
    await eventually(() => harness.pods("e", 1).every(({ status }) => status?.phase === "Running"));
    expect(harness.engine("e").status).toMatchObject({ phase: "creating", currentGeneration: 1, activeGeneration: 0 });
    expect(harness.target("e")).toBe(0);
    await harness.setEndpoint("metadata.example:7000");
    await harness.settled("e", 1);
    expect(harness.broken()).toEqual([]);
  });

  test("spec-edited-before-status-write, retry-own-status-only: a user's edit between read and status write costs one conflict and loses nothing", async () => {
    await using harness = await openEngineHarness(plane, "spec-edited-before-status-write");
    await harness.createInstance();
    let edits = 0;
    const before = async ({ text }: WriteCall) => {
      if (text !== "patch FireboltEngine e status" || edits > 0) return;
      edits += 1;
      const body = { metadata: { annotations: { "example.com/by": "user" } }, spec: { drainCheckInterval: "9s" } };
      await harness.client.patch(FireboltEngine, { namespace: harness.namespace, name: "e" }, { type: "merge", body });
    };
    const operator = await harness.operator({ tap: { before } });
    await harness.createEngine("e", DRAIN);
    await harness.until("e", ({ spec }) => spec?.drainCheckInterval === "9s", "was edited");
    const settled = await harness.settled("e", 0);
    expect(settled.spec?.drainCheckInterval).toBe("9s");
    expect(settled.metadata?.annotations).toMatchObject({ "example.com/by": "user" });
    expect(operator.requests.filter(({ code }) => code === "409")).toHaveLength(1);
    expect(harness.broken()).toEqual([]);
  });

  test("newer-status-meanwhile, no-blind-overwrite: a pass computed from an old status is discarded; the number does not go down", async () => {
    await using harness = await openEngineHarness(plane, "newer-status-meanwhile");
    await harness.createInstance();
    let armed = false;
    const before = async ({ text }: WriteCall) => {
      if (text !== "patch FireboltEngine e status" || !armed) return;
      armed = false;
      // What another leader would have stored: the same bump, and one more.
      const status = { phase: "creating", currentGeneration: 2, activeGeneration: 0 };
      const patch = { type: "merge", body: { status } } as const;
      await harness.client.patch(FireboltEngine, { namespace: harness.namespace, name: "e" }, patch, {
        subresource: "status",
      });
    };
    await harness.operator({ tap: { before } });
    await harness.createEngine("e", DRAIN);
    await harness.settled("e", 0);
    armed = true;
    await harness.edit("e", image("two"));
    await harness.settled("e", 2);
    expect(armed).toBe(false);
    expect(generationsOf(harness, "e")).toEqual([0, 2]);
  });
});
