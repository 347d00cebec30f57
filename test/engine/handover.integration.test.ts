// How traffic is handed from one generation to the next, on a real control plane: the old one stays until clients know of the switch,
// is taken back when it is wanted again, and is deleted as a whole. Pods are simulated; their metrics come through pods/proxy.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { LABEL } from "../../src/api/labels.ts";
import { configMaps, services, statefulSets } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, startEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineLab, image, openEngineLab } from "./support/engine-harness.ts";
import { generationsOf, targetsOf } from "./support/history-views.ts";

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await startEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

/** A namespace with an operator and an engine `e`, at rest on generation 0. */
async function openLab(prefix: string, drainSettleMs = 0): Promise<EngineLab> {
  const lab = await openEngineLab(plane, prefix);
  await lab.createInstance();
  await lab.operator({ drainSettleMs });
  await lab.createEngine("e", { drainCheckInterval: "1s" });
  await lab.settled("e", 0);
  return lab;
}

const addresses = (lab: EngineLab, generation: number): readonly string[] =>
  lab.pods("e", generation).map(({ status }) => status?.podIP ?? "");
const asked = (pods: readonly string[]): number => pods.reduce((sum, address) => sum + plane.metrics.asked(address), 0);
const isDeleted = (lab: EngineLab, generation: number): boolean => {
  const set = lab.statefulSet("e", generation);
  return set === undefined || set.metadata?.deletionTimestamp !== undefined;
};

describe.concurrent("an idle generation after the switch", () => {
  test("is neither probed nor deleted before the settle time is over, and a query that comes late holds it", async () => {
    await using lab = await openLab("settle", 6_000);
    const old = addresses(lab, 0);
    const before = asked(old);
    // A gateway that has not looked the name up again sends a long query to the old address. Whether it is there from the beginning nobody
    // can tell who is asked after the settle time only.
    lab.queries(lab.pods("e", 0)[0], { running: 1 });
    await lab.edit("e", image("two"));
    const switched = await lab.once("e", ({ status }) => status?.phase === "draining", "drains");
    const sinceMs = Date.parse(switched.status?.drainingSince ?? "");
    await eventually(() => asked(old) > before);
    expect(Date.now()).toBeGreaterThanOrEqual(sinceMs + 6_000);
    const checks = asked(old);
    await eventually(() => asked(old) >= checks + 2);
    expect(lab.engine("e").status).toMatchObject({ phase: "draining", drainingGeneration: 0 });
    expect(isDeleted(lab, 0)).toBe(false);
    for (const pod of lab.pods("e", 0)) lab.queries(pod, {});
    await lab.settled("e", 1);
    expect(lab.broken()).toEqual([]);
  });

  test("is drained anew when the Service was pointed back at it", async () => {
    await using lab = await openLab("stray", 5_000);
    // It holds the first drain until the Service has been pointed back, however long that takes.
    lab.queries(lab.pods("e", 0)[0], { running: 1 });
    await lab.edit("e", image("two"));
    const first = await lab.until("e", ({ status }) => status?.phase === "draining", "drains");
    // Times are stored in whole seconds: the next one must differ.
    await eventually(() => Date.now() > Date.parse(first.status?.drainingSince ?? "") + 1_000);
    const body = { spec: { selector: { [LABEL.generation]: "0" } } };
    await lab.client.patch(services, { namespace: lab.namespace, name: "e-service" }, { type: "merge", body });
    const again = await lab.until(
      "e",
      ({ status }) => status?.phase === "draining" && status.drainingSince !== first.status?.drainingSince,
      "starts its drain again",
    );
    expect(isDeleted(lab, 0)).toBe(false);
    expect(Date.parse(again.status?.drainingSince ?? "")).toBeGreaterThan(
      Date.parse(first.status?.drainingSince ?? ""),
    );
    lab.queries(lab.pods("e", 0)[0], {});
    await lab.settled("e", 1);
    expect(targetsOf(lab, "e")).toEqual(["0", "1", "0", "1"]);
  });
});

describe.concurrent("a generation that is wanted again while it drains", () => {
  test("takes the queries back after a reverted edit, and no third one comes into being", async () => {
    await using lab = await openLab("revert");
    const pods = lab.pods("e", 0).map(({ metadata }) => metadata?.uid);
    lab.queries(lab.pods("e", 0)[0], { running: 1 });
    await lab.edit("e", image("two"));
    await lab.until("e", ({ status }) => status?.phase === "draining", "drains");
    await lab.edit("e", { template: null });
    await lab.settled("e", 0);
    expect(generationsOf(lab, "e")).toEqual([0, 1, 0]);
    expect(lab.pods("e", 0).map(({ metadata }) => metadata?.uid)).toEqual(pods);
    // The number is not used again: what is left of generation 1 can never be taken for a new one.
    for (const pod of lab.pods("e", 0)) lab.queries(pod, {});
    await lab.edit("e", image("three"));
    await lab.settled("e", 2);
    expect(lab.engine("e").status).not.toHaveProperty("highestGeneration");
  });

  test("serves again when a query meets a stop, however long another query on it takes", async () => {
    await using lab = await openLab("meets-stop");
    lab.queries(lab.pods("e", 0)[0], { running: 1 });
    await lab.edit("e", {
      replicas: 0,
      autoStop: { enabled: true, activeReplicas: 2, idleTimeout: "1h", pollInterval: "1s" },
    });
    await lab.until("e", ({ status }) => status?.phase === "draining", "drains");
    const annotations = { "firebolt.io/wake-requested": new Date().toISOString() };
    await lab.client.patch(
      FireboltEngine,
      { namespace: lab.namespace, name: "e" },
      { type: "merge", body: { metadata: { annotations } } },
    );
    await lab.settled("e", 0);
    expect(lab.engine("e").spec?.replicas).toBe(2);
    expect(lab.pods("e", 0)).toHaveLength(2);
    expect(generationsOf(lab, "e")).toEqual([0, 1, 0]);
  });
});

describe.concurrent("what a generation leaves", () => {
  test("a StatefulSet that lost its label is deleted with its generation", async () => {
    await using lab = await openLab("unlabelled");
    const body = { metadata: { labels: { [LABEL.engine]: null } } };
    const key = { namespace: lab.namespace, name: "e-g0" };
    await lab.client.patch(statefulSets, key, { type: "merge", body });
    await lab.settled("e", 1);
    await eventually(async () => (await lab.client.find(statefulSets, key)) === undefined);
  });

  test("pods of a StatefulSet that was deleted with --cascade=orphan are drained, then deleted", async () => {
    await using lab = await openLab("orphans");
    const old = lab.pods("e", 0);
    lab.queries(old[0], { running: 1 });
    const { uid } = lab.statefulSet("e", 0)?.metadata ?? {};
    const key = { namespace: lab.namespace, name: "e-g0" };
    await lab.client.delete(statefulSets, key, { propagation: "Orphan", ...(uid === undefined ? {} : { uid }) });
    await lab.until("e", ({ status }) => status?.phase === "draining", "drains the pods that are left");
    const checks = asked(addresses(lab, 0));
    await eventually(() => asked(addresses(lab, 0)) >= checks + 2);
    expect(lab.pods("e", 0)).toHaveLength(2);
    for (const pod of old) lab.queries(pod, {});
    await lab.settled("e", 1);
    await eventually(() => lab.pods("e", 0).length === 0);
  });
});

describe.concurrent("names that are taken", () => {
  test("a user's ConfigMap is neither adopted nor deleted; the engine names it, serves on, and goes on when it is gone", async () => {
    await using lab = await openLab("their-config");
    const key = { namespace: lab.namespace, name: "e-g1-config" };
    const theirs = await lab.client.create(configMaps, { metadata: key, data: { "important.txt": "keep" } });
    await lab.edit("e", image("two"));
    const refused = await lab.until(
      "e",
      ({ status }) => status?.conditions?.some(({ reason }) => reason === "NameInUse") === true,
      "names the ConfigMap",
    );
    const ready = refused.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready?.message).toContain(`ConfigMap ${lab.namespace}/e-g1-config belongs to another owner`);
    expect(lab.target("e")).toBe(0);
    expect(await lab.client.find(configMaps, key)).toEqual(theirs);
    await lab.client.delete(configMaps, key, {});
    await lab.settled("e", 1);
  });

  test("a user's Service shows on the engine instead of a silent stall", async () => {
    await using lab = await openEngineLab(plane, "their-service");
    await lab.createInstance();
    const key = { namespace: lab.namespace, name: "s-g0-hl" };
    await lab.client.create(services, { metadata: key, spec: { selector: { app: "theirs" }, ports: [{ port: 80 }] } });
    await lab.operator();
    await lab.createEngine("s");
    await lab.until(
      "s",
      ({ status }) => status?.conditions?.some(({ reason }) => reason === "NameInUse") === true,
      "names the Service",
    );
    await lab.client.delete(services, key, {});
    await lab.settled("s", 0);
  });
});
