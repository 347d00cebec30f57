// Every event about engines (docs/monitoring.md#events), caused on a real control plane and read back from it: one
// event per occurrence, repetitions as a series.
import { eventResource, type KubeEvent } from "@firebolt-operator/kube/events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { ANNOTATION } from "../../src/api/labels.ts";
import type { EngineCaches } from "../../src/engine/cluster/caches.ts";
import { configMaps } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineHarness, image, openEngineHarness, readyOf } from "./support/engine-harness.ts";

/** Reason, type and action as the table has them. */
const TABLE: Readonly<Record<string, readonly ["Normal" | "Warning", string]>> = {
  ExternalFinalizerOnOwnedResource: ["Warning", "Deleting"],
  SecretAliasVolumeDropped: ["Warning", "Reconcile"],
  DrainCheckFailing: ["Warning", "Drain"],
  TemplateRejected: ["Warning", "Reconcile"],
  ResourceBoundsExceeded: ["Warning", "Reconcile"],
  EngineClassNotFound: ["Warning", "Reconcile"],
  EngineClassUnready: ["Warning", "Reconcile"],
  GenerationCreated: ["Normal", "Rollout"],
  GenerationAbandoned: ["Normal", "Rollout"],
  TrafficSwitched: ["Normal", "Rollout"],
  DrainStarted: ["Normal", "Rollout"],
  GenerationCleaned: ["Normal", "Rollout"],
  EngineReady: ["Normal", "Rollout"],
  AutoStopScaled: ["Normal", "Scale"],
  WakeRequested: ["Normal", "Scale"],
};

let plane: EngineControlPlane;
const produced = new Set<string>();
beforeAll(async () => {
  plane = await openEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

async function openHarness(prefix: string): Promise<EngineHarness> {
  const harness = await openEngineHarness(plane, prefix);
  await harness.createInstance();
  return harness;
}

/** In the order in which things happened; events of one moment in the order of their reasons. */
async function eventsOf(harness: EngineHarness, name: string): Promise<readonly KubeEvent[]> {
  const { items } = await harness.client.list(eventResource, { namespace: harness.namespace });
  const found = items.filter(({ regarding }) => regarding?.kind === "FireboltEngine" && regarding.name === name);
  for (const { reason = "", type, action } of found) {
    produced.add(reason);
    expect([type, action], reason).toEqual(TABLE[reason]);
  }
  return found.toSorted(
    (a, b) => (a.eventTime ?? "").localeCompare(b.eventTime ?? "") || (a.reason ?? "").localeCompare(b.reason ?? ""),
  );
}

/** Events are written a moment after their cause: waits until exactly these exist. */
async function recorded(
  harness: EngineHarness,
  name: string,
  reasons: readonly string[],
): Promise<readonly KubeEvent[]> {
  return eventually(async () => {
    const events = await eventsOf(harness, name);
    expect(events.map(({ reason }) => reason)).toEqual(reasons);
    return events;
  });
}

const noteOf = (events: readonly KubeEvent[], reason: string): string =>
  events.findLast((event) => event.reason === reason)?.note ?? "";

const key = (harness: EngineHarness, name: string) => ({ namespace: harness.namespace, name });

describe.concurrent("rollouts", () => {
  test("created-from-nothing, image-changed, stopped-by-hand: a creation, an idle roll and a stop, each reported once", async () => {
    await using harness = await openHarness("ev-life");
    await harness.operator();
    await harness.createEngine("e", { replicas: 1 });
    const { metadata } = await harness.settled("e", 0);
    const creation = ["EngineReady"];
    const [ready] = await recorded(harness, "e", creation);
    expect(ready).toMatchObject({ regarding: { uid: metadata?.uid } });
    expect(ready?.note).toMatch(/^Generation 0 serves with 1 replica, \d+ s after its start$/);

    await harness.edit("e", image("two"));
    await harness.settled("e", 1);
    const roll = [...creation, "GenerationCreated", "TrafficSwitched", "EngineReady"];
    const rolled = await recorded(harness, "e", roll);
    expect(noteOf(rolled, "GenerationCreated")).toBe(
      "Generation 1 replaces 0: spec.template.spec.containers[0].image differs",
    );
    expect(noteOf(rolled, "TrafficSwitched")).toBe("Queries are routed to generation 1 instead of 0");
    expect(noteOf(rolled, "EngineReady")).toMatch(
      /^Generation 1 serves with 1 replica, \d+ s after its start\. Generation 0 is deleted$/,
    );

    await harness.edit("e", { replicas: 0 });
    await harness.settled("e", 2);
    const stop = [...roll, "GenerationCreated", "TrafficSwitched", "GenerationCleaned"];
    expect(noteOf(await recorded(harness, "e", stop), "GenerationCleaned")).toBe("Generation 1 is deleted");
  });

  test("edited-while-creating: an abandoned generation", async () => {
    await using harness = await openHarness("ev-abandon");
    await harness.operator();
    await harness.createEngine("e", { replicas: 1 });
    await harness.settled("e", 0);
    await harness.edit("e", { template: { spec: { nodeSelector: harness.hold } } });
    await eventually(() => harness.pods("e", 1).length === 1);
    await harness.edit("e", { template: { spec: { nodeSelector: null } }, replicas: 2 });
    await harness.settled("e", 2);
    const events = await recorded(harness, "e", [
      "EngineReady",
      "GenerationCreated",
      "GenerationAbandoned",
      "TrafficSwitched",
      "EngineReady",
    ]);
    expect(noteOf(events, "GenerationAbandoned")).toContain("Generation 1 is abandoned for 2 and deleted: ");
  });

  test("drain-with-busy-pod, drain-with-silent-pod: a drain that takes time; the same failure again is a series, not another event", async () => {
    await using harness = await openHarness("ev-drain");
    await harness.operator();
    await harness.createEngine("e", { replicas: 1, drainCheckInterval: "1s" });
    await harness.settled("e", 0);
    const [pod] = harness.pods("e", 0);
    const showsIn = (reason: string, text: string) =>
      harness.until(
        "e",
        (e) => readyOf(e)?.reason === reason && (readyOf(e)?.message.includes(text) ?? false),
        `${reason}: ${text}`,
      );
    const busy = async () => {
      harness.queries(pod, { running: 3 });
      await showsIn("Rolling", "generation 0 still runs queries");
    };
    const silent = async () => {
      harness.queries(pod, { status: 500 });
      await showsIn("DrainCheckFailing", "e-g0-0");
    };
    harness.queries(pod, { running: 3 });
    await harness.edit("e", image("two"));
    await busy();
    await silent();
    await busy();
    await silent();
    harness.queries(pod, {});
    await harness.settled("e", 1);
    const events = await recorded(harness, "e", [
      "EngineReady",
      "GenerationCreated",
      "TrafficSwitched",
      "DrainStarted",
      "DrainCheckFailing",
      "EngineReady",
    ]);
    expect(noteOf(events, "DrainStarted")).toBe("Generation 0 is kept until its queries finish (3 on pod e-g0-0)");
    expect(noteOf(events, "DrainCheckFailing")).toContain("pod e-g0-0: the metrics endpoint responded with status 500");
    await eventually(async () => {
      const failing = (await eventsOf(harness, "e")).find(({ reason }) => reason === "DrainCheckFailing");
      expect(failing?.series?.count).toBe(2);
    });
  });

  test("woken-by-fresh-stamp: auto-stop and wake", async () => {
    await using harness = await openHarness("ev-wake");
    await harness.operator();
    const autoStop = { enabled: true, activeReplicas: 1, idleReplicas: 0, idleTimeout: "30m", pollInterval: "1s" };
    await harness.createEngine("e", { replicas: 0, autoStop });
    await harness.until("e", ({ status }) => status?.autoStopReason === "Stopped", "stopped");
    const annotations = { [ANNOTATION.wakeRequested]: new Date().toISOString() };
    await harness.client.patch(FireboltEngine, key(harness, "e"), {
      type: "merge",
      body: { metadata: { annotations } },
    });
    await harness.settled("e", 1);
    const events = await eventually(async () => {
      const found = await eventsOf(harness, "e");
      expect(found.map(({ reason }) => reason)).toEqual(expect.arrayContaining(["AutoStopScaled", "WakeRequested"]));
      return found;
    });
    expect(noteOf(events, "AutoStopScaled")).toBe("From 0 to 1 replicas: WakeRequested");
    expect(noteOf(events, "WakeRequested")).toMatch(/^Annotation firebolt\.io\/wake-requested, \d+ s old$/);
  });

  test("foreign-finalizer: a finalizer of another controller on an object of a deleted engine", async () => {
    await using harness = await openHarness("ev-finalizer");
    let operatorCaches: EngineCaches | undefined;
    await harness.operator({
      showCaches: (caches) => {
        operatorCaches = caches;
      },
    });
    await harness.createEngine("e", { replicas: 1 });
    await harness.settled("e", 0);
    const patch = { type: "merge", body: { metadata: { finalizers: ["example.com/hold"] } } } as const;
    await harness.client.patch(configMaps, key(harness, "e-g0-config"), patch);
    await eventually(
      () => operatorCaches?.children.ConfigMap.get(key(harness, "e-g0-config"))?.metadata?.finalizers !== undefined,
    );
    await harness.client.delete(FireboltEngine, key(harness, "e"));
    const events = await recorded(harness, "e", ["EngineReady", "ExternalFinalizerOnOwnedResource"]);
    expect(noteOf(events, "ExternalFinalizerOnOwnedResource")).toContain("- ConfigMap/e-g0-config: example.com/hold");
  });
});

describe.concurrent("refusals", () => {
  test("a class that does not exist, then one that is rejected", async () => {
    await using harness = await openHarness("ev-class");
    await harness.operator();
    await harness.createEngine("e", { replicas: 1, engineClassRef: "c" });
    const [missing] = await recorded(harness, "e", ["EngineClassNotFound"]);
    expect(missing?.note).toContain('FireboltEngineClass "c" not found');
    await harness.createClass("c", { template: { spec: { hostNetwork: true } } });
    const events = await recorded(harness, "e", ["EngineClassNotFound", "EngineClassUnready"]);
    expect(noteOf(events, "EngineClassUnready")).toContain("spec.template.spec.hostNetwork");
    await harness.editClass("c", { template: { spec: { hostNetwork: null } } });
    await harness.settled("e", 0);
  });

  test("a template and resources that may not be", async () => {
    await using harness = await openHarness("ev-template");
    await harness.operator({ bounds: { cpu: "1" } });
    await harness.createEngine("t", { replicas: 1, template: { spec: { hostNetwork: true } } });
    const [rejected] = await recorded(harness, "t", ["TemplateRejected"]);
    expect(rejected?.note).toContain("spec.template.spec.hostNetwork");
    const containers = [{ name: "engine", resources: { limits: { cpu: "2" } } }];
    await harness.createEngine("b", { replicas: 1, template: { spec: { containers } } });
    const [exceeded] = await recorded(harness, "b", ["ResourceBoundsExceeded"]);
    expect(exceeded?.note).toContain("resources.limits[cpu]");
  });

  test("volumes that reach a Secret of the operator are left out with their mounts, once and for all", async () => {
    await using harness = await openHarness("ev-alias");
    const first = await harness.operator();
    const alias = (name: string, source: object) => ({
      spec: {
        volumes: [{ name, ...source }],
        containers: [{ name: "engine", volumeMounts: [{ name, mountPath: `/peek/${name}` }] }],
      },
    });
    const projected = { projected: { sources: [{ secret: { name: "any-auth-signing-1" } }] } };
    await harness.createClass("c", { template: alias("b", projected) });
    const credentials = { secret: { secretName: "main-metadata-postgres-creds" } };
    await harness.createEngine("e", { replicas: 1, engineClassRef: "c", template: alias("a", credentials) });
    await harness.settled("e", 0);
    const [event] = await recorded(harness, "e", ["SecretAliasVolumeDropped", "EngineReady"]);
    expect(event?.note).toContain('spec.template.spec.volumes[0] (Secret "main-metadata-postgres-creds")');
    expect(event?.note).toContain('spec.engineClassRef.template.spec.volumes[0] (Secret "any-auth-signing-1")');
    const pod = JSON.stringify(harness.statefulSet("e", 0)?.spec?.template);
    expect(pod).not.toContain("postgres-creds");
    expect(pod).not.toContain("auth-signing");
    expect(pod).not.toContain("/peek/");

    // Another process sees the same templates and the same StatefulSet: no difference, no new generation, no new event.
    await first.stop();
    const second = await harness.operator();
    await eventually(() => second.passes.length > 0);
    expect(harness.engine("e").status?.currentGeneration).toBe(0);
    // A harmless volume instead of one of them is a change like any other.
    await harness.edit("e", { template: { spec: { volumes: [{ name: "a", emptyDir: {} }] } } });
    await harness.settled("e", 1);
    expect(JSON.stringify(harness.statefulSet("e", 1)?.spec?.template)).toContain("/peek/a");
    const events = await recorded(harness, "e", [
      "SecretAliasVolumeDropped",
      "EngineReady",
      "GenerationCreated",
      "SecretAliasVolumeDropped",
      "TrafficSwitched",
      "EngineReady",
    ]);
    expect(noteOf(events, "SecretAliasVolumeDropped")).not.toContain("main-metadata-postgres-creds");
    expect(harness.broken()).toEqual([]);
  });

  test("variables that refer to one are rejected, of the engine and of its class", async () => {
    await using harness = await openHarness("ev-env");
    await harness.operator();
    const secretRef = { name: "main-metadata-postgres-creds" };
    const template = { spec: { containers: [{ name: "engine", envFrom: [{ secretRef }] }] } };
    await harness.createClass("c", { template });
    await harness.createEngine("own", { replicas: 1, template });
    await harness.createEngine("heir", { replicas: 1, engineClassRef: "c" });
    const [own] = await recorded(harness, "own", ["TemplateRejected"]);
    expect(own?.note).toContain("spec.template.spec.containers[0]");
    const [heir] = await recorded(harness, "heir", ["TemplateRejected"]);
    expect(heir?.note).toContain("spec.engineClassRef.template.spec.containers[0]");
    expect(harness.history.present("StatefulSet")).toEqual([]);
    await harness.editClass("c", { template: { spec: { containers: [{ name: "engine" }] } } });
    await harness.settled("heir", 0);
  });
});

test("each reason of the table was produced by one of these scenarios", () => {
  expect(Object.keys(TABLE).filter((reason) => !produced.has(reason))).toEqual([]);
});
