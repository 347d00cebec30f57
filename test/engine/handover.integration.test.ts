// How traffic is handed from one generation to the next, on a real control plane: the old one stays until clients know of the switch,
// is switched back to when it is wanted again, and is deleted as a whole. Pods are simulated; their metrics come through pods/proxy.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { LABEL } from "../../src/api/labels.ts";
import { configMaps, services, statefulSets } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineHarness, image, openEngineHarness } from "./support/engine-harness.ts";
import { generationsOf, targetsOf } from "./support/history-views.ts";

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await openEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

/** A namespace with an operator and an engine `e`, at rest on generation 0. */
async function openHarness(prefix: string, drainSettleMs = 0): Promise<EngineHarness> {
  const harness = await openEngineHarness(plane, prefix);
  await harness.createInstance();
  await harness.operator({ drainSettleMs });
  await harness.createEngine("e", { drainCheckInterval: "1s" });
  await harness.settled("e", 0);
  return harness;
}

const addresses = (harness: EngineHarness, generation: number): readonly string[] =>
  harness.pods("e", generation).map(({ status }) => status?.podIP ?? "");
const asked = (pods: readonly string[]): number => pods.reduce((sum, address) => sum + plane.metrics.asked(address), 0);
const isDeleted = (harness: EngineHarness, generation: number): boolean => {
  const set = harness.statefulSet("e", generation);
  return set === undefined || set.metadata?.deletionTimestamp !== undefined;
};

describe.concurrent("an idle generation after the switch", () => {
  test("drain-settle: is neither probed nor deleted before the settle time has passed, and a late query holds it", async () => {
    await using harness = await openHarness("settle", 6_000);
    const old = addresses(harness, 0);
    const before = asked(old);
    // A gateway with a stale address sends a long query to the old generation. A probe after the settle time cannot
    // tell when the query started, so the test sends it at the beginning.
    harness.queries(harness.pods("e", 0)[0], { running: 1 });
    await harness.edit("e", image("two"));
    const switched = await harness.once("e", ({ status }) => status?.phase === "draining", "drains");
    const sinceMs = Date.parse(switched.status?.drainingSince ?? "");
    await eventually(() => asked(old) > before);
    expect(Date.now()).toBeGreaterThanOrEqual(sinceMs + 6_000);
    const checks = asked(old);
    await eventually(() => asked(old) >= checks + 2);
    expect(harness.engine("e").status).toMatchObject({ phase: "draining", drainingGeneration: 0 });
    expect(isDeleted(harness, 0)).toBe(false);
    for (const pod of harness.pods("e", 0)) harness.queries(pod, {});
    await harness.settled("e", 1);
    expect(harness.broken()).toEqual([]);
  });

  test("is drained again when the Service was pointed back at it", async () => {
    await using harness = await openHarness("stray", 5_000);
    // It holds the first drain until the Service has been pointed back, however long that takes.
    harness.queries(harness.pods("e", 0)[0], { running: 1 });
    await harness.edit("e", image("two"));
    const first = await harness.until("e", ({ status }) => status?.phase === "draining", "drains");
    // Times are stored in whole seconds: the next one must differ.
    await eventually(() => Date.now() > Date.parse(first.status?.drainingSince ?? "") + 1_000);
    const body = { spec: { selector: { [LABEL.generation]: "0" } } };
    await harness.client.patch(services, { namespace: harness.namespace, name: "e-service" }, { type: "merge", body });
    const again = await harness.until(
      "e",
      ({ status }) => status?.phase === "draining" && status.drainingSince !== first.status?.drainingSince,
      "starts its drain again",
    );
    expect(isDeleted(harness, 0)).toBe(false);
    expect(Date.parse(again.status?.drainingSince ?? "")).toBeGreaterThan(
      Date.parse(first.status?.drainingSince ?? ""),
    );
    harness.queries(harness.pods("e", 0)[0], {});
    await harness.settled("e", 1);
    expect(targetsOf(harness, "e")).toEqual(["0", "1", "0", "1"]);
  });
});

describe.concurrent("a generation that is wanted again while it drains", () => {
  test("switch-back-instead-of-third: switches back after a reverted edit, and no third one comes into being", async () => {
    await using harness = await openHarness("revert");
    const pods = harness.pods("e", 0).map(({ metadata }) => metadata?.uid);
    harness.queries(harness.pods("e", 0)[0], { running: 1 });
    await harness.edit("e", image("two"));
    await harness.until("e", ({ status }) => status?.phase === "draining", "drains");
    await harness.edit("e", { template: null });
    await harness.settled("e", 0);
    expect(generationsOf(harness, "e")).toEqual([0, 1, 0]);
    expect(harness.pods("e", 0).map(({ metadata }) => metadata?.uid)).toEqual(pods);
    // The number is not used again: what is left of generation 1 can never be taken for a new one.
    for (const pod of harness.pods("e", 0)) harness.queries(pod, {});
    await harness.edit("e", image("three"));
    await harness.settled("e", 2);
    expect(harness.engine("e").status).not.toHaveProperty("highestGeneration");
  });

  test("serves again when a query meets a stop, however long another query on it takes", async () => {
    await using harness = await openHarness("meets-stop");
    harness.queries(harness.pods("e", 0)[0], { running: 1 });
    await harness.edit("e", {
      replicas: 0,
      autoStop: { enabled: true, activeReplicas: 2, idleTimeout: "1h", pollInterval: "1s" },
    });
    await harness.until("e", ({ status }) => status?.phase === "draining", "drains");
    const annotations = { "firebolt.io/wake-requested": new Date().toISOString() };
    await harness.client.patch(
      FireboltEngine,
      { namespace: harness.namespace, name: "e" },
      { type: "merge", body: { metadata: { annotations } } },
    );
    await harness.settled("e", 0);
    expect(harness.engine("e").spec?.replicas).toBe(2);
    expect(harness.pods("e", 0)).toHaveLength(2);
    expect(generationsOf(harness, "e")).toEqual([0, 1, 0]);
  });
});

describe.concurrent("what a generation leaves", () => {
  test("a StatefulSet that lost its label is deleted with its generation", async () => {
    await using harness = await openHarness("unlabelled");
    const body = { metadata: { labels: { [LABEL.engine]: null } } };
    const key = { namespace: harness.namespace, name: "e-g0" };
    await harness.client.patch(statefulSets, key, { type: "merge", body });
    await harness.settled("e", 1);
    await eventually(async () => (await harness.client.find(statefulSets, key)) === undefined);
  });

  test("pods of a StatefulSet that was deleted with --cascade=orphan are drained, then deleted", async () => {
    await using harness = await openHarness("orphans");
    const old = harness.pods("e", 0);
    harness.queries(old[0], { running: 1 });
    const { uid } = harness.statefulSet("e", 0)?.metadata ?? {};
    const key = { namespace: harness.namespace, name: "e-g0" };
    await harness.client.delete(statefulSets, key, { propagation: "Orphan", ...(uid === undefined ? {} : { uid }) });
    await harness.until("e", ({ status }) => status?.phase === "draining", "drains the pods that are left");
    const checks = asked(addresses(harness, 0));
    await eventually(() => asked(addresses(harness, 0)) >= checks + 2);
    expect(harness.pods("e", 0)).toHaveLength(2);
    for (const pod of old) harness.queries(pod, {});
    await harness.settled("e", 1);
    await eventually(() => harness.pods("e", 0).length === 0);
  });
});

describe.concurrent("names that are taken", () => {
  test("created-never-adopted: a user's ConfigMap is neither adopted nor deleted; the engine reports it, keeps serving, and continues once it is deleted", async () => {
    await using harness = await openHarness("their-config");
    const key = { namespace: harness.namespace, name: "e-g1-config" };
    const theirs = await harness.client.create(configMaps, { metadata: key, data: { "important.txt": "keep" } });
    await harness.edit("e", image("two"));
    const refused = await harness.until(
      "e",
      ({ status }) => status?.conditions?.some(({ reason }) => reason === "NameInUse") === true,
      "names the ConfigMap",
    );
    const ready = refused.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready?.message).toContain(`ConfigMap ${harness.namespace}/e-g1-config belongs to another owner`);
    expect(harness.target("e")).toBe(0);
    expect(await harness.client.find(configMaps, key)).toEqual(theirs);
    await harness.client.delete(configMaps, key, {});
    await harness.settled("e", 1);
  });

  test("a user's Service shows on the engine instead of a silent stall", async () => {
    await using harness = await openEngineHarness(plane, "their-service");
    await harness.createInstance();
    const key = { namespace: harness.namespace, name: "s-g0-hl" };
    await harness.client.create(services, {
      metadata: key,
      spec: { selector: { app: "theirs" }, ports: [{ port: 80 }] },
    });
    await harness.operator();
    await harness.createEngine("s");
    await harness.until(
      "s",
      ({ status }) => status?.conditions?.some(({ reason }) => reason === "NameInUse") === true,
      "names the Service",
    );
    await harness.client.delete(services, key, {});
    await harness.settled("s", 0);
  });
});
