// Deletion of engines: all objects are deleted immediately, the finalizer last, and only when the API server has
// accepted every delete. Rejections come from the API server itself (admission policies), not from the test.
import { defineResource } from "@firebolt-operator/kube";
import { eventResource } from "@firebolt-operator/kube/events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import type { EngineCaches } from "../../src/engine/cluster/caches.ts";
import { configMaps, statefulSets } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, openEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineHarness, image, openEngineHarness, readyOf } from "./support/engine-harness.ts";
import { untilIdle } from "./support/request-counts.ts";

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await openEngineControlPlane();
});
afterAll(() => plane?.[Symbol.asyncDispose]());

const admission = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false } as const;
type Policy = { metadata?: object; spec?: object };
const Policies = defineResource<Policy>({
  ...admission,
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
});
const Bindings = defineResource<Policy>({
  ...admission,
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
});

/** The first one is of 5 ms, and each next one twice as long. */
const BACK_OFFS = 8;

const inHarness = (harness: EngineHarness, name: string) => ({ namespace: harness.namespace, name });

async function openHarness(prefix: string): Promise<EngineHarness> {
  const harness = await openEngineHarness(plane, prefix);
  await harness.createInstance();
  return harness;
}

/** The API server rejects deletes of StatefulSets in this namespace until the returned function is called. */
async function refuseDeletes(harness: EngineHarness): Promise<() => Promise<void>> {
  const { client, namespace } = harness;
  const metadata = { name: namespace };
  const resourceRules = [
    { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["DELETE"], resources: ["statefulsets"] },
  ];
  await client.create(Policies, {
    metadata,
    spec: {
      matchConstraints: { resourceRules },
      validations: [{ expression: "false", message: "no deletes today" }],
    },
  });
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  await client.create(Bindings, {
    metadata,
    spec: { policyName: namespace, validationActions: ["Deny"], matchResources: { namespaceSelector } },
  });
  const refused = async (): Promise<boolean> =>
    client.delete(statefulSets, inHarness(harness, "e-g0"), { dryRun: true }).then(
      () => false,
      (error: unknown) => String(error).includes("no deletes today"),
    );
  await eventually(refused, { describe: "the policy is in force" });
  return async () => {
    await client.delete(Bindings, metadata);
    await client.delete(Policies, metadata);
  };
}

const isGone = (harness: EngineHarness): void => {
  expect(harness.history.present("FireboltEngine")).toEqual([]);
  expect(harness.history.present("StatefulSet")).toEqual([]);
  expect(harness.history.present("Service")).toEqual([]);
  expect(harness.history.present("ConfigMap").map(({ metadata }) => metadata?.name)).toEqual(["kube-root-ca.crt"]);
  expect(harness.history.present("Pod")).toEqual([]);
};

describe.concurrent("deletion", () => {
  test("engine-deleted, delete-engine: at rest takes everything with it, without a drain, finalizer last", async () => {
    await using harness = await openHarness("engine-deleted");
    const operator = await harness.operator();
    await harness.createEngine("e");
    await harness.settled("e", 0);
    for (const pod of harness.pods("e", 0)) harness.queries(pod, { running: 1 });
    // The event for the end of the creation is written a moment after it.
    await eventually(() => operator.requests.some(({ resource }) => resource.startsWith("events")));
    await untilIdle(operator);
    const before = operator.requests.length;
    await harness.client.delete(FireboltEngine, inHarness(harness, "e"));
    await eventually(() => isGone(harness));
    // The list of StatefulSets, four deletes, the finalizer.
    expect(operator.requests.slice(before).map(({ verb }) => verb)).toEqual([
      "list",
      "delete",
      "delete",
      "delete",
      "delete",
      "patch",
    ]);
    const end = harness.history.of("FireboltEngine", "e").findLast(({ change }) => change === "removed");
    const marks = harness.history.of("StatefulSet", "e-g0").filter(({ object }) => object.metadata?.deletionTimestamp);
    expect(marks[0]?.version).toBeLessThan(end?.version ?? 0n);
  });

  test.each([
    {
      phase: "creating",
      prepare: (harness: EngineHarness) => harness.edit("e", { template: { spec: { nodeSelector: harness.hold } } }),
    },
    {
      phase: "draining",
      prepare: (harness: EngineHarness) => {
        harness.queries(harness.pods("e", 0)[0], { running: 1 });
        return harness.edit("e", image("two"));
      },
    },
  ])("engine-deleted: in the middle of $phase takes both generations with it", async ({ phase, prepare }) => {
    await using harness = await openHarness("engine-deleted-again");
    await harness.operator();
    await harness.createEngine("e");
    await harness.settled("e", 0);
    await prepare(harness);
    await eventually(() => harness.engine("e").status?.phase === phase && harness.pods("e", 1).length === 2);
    await harness.client.delete(FireboltEngine, inHarness(harness, "e"));
    await eventually(() => isGone(harness));
  });

  test("delete-refused, finalizer-goes-last: a rejected delete keeps the finalizer, the other objects are deleted, and deletion completes once deletes are allowed", async () => {
    await using harness = await openHarness("delete-refused");
    const operator = await harness.operator();
    await harness.createEngine("e");
    await harness.settled("e", 0);
    const allow = await refuseDeletes(harness);
    await harness.client.delete(FireboltEngine, inHarness(harness, "e"));
    await eventually(() => {
      expect(harness.history.present("Service")).toEqual([]);
      expect(harness.history.latest("ConfigMap", "e-g0-config")).toBeUndefined();
    });
    const failure = await eventually(() => operator.log.find(({ message }) => message === "pass failed") ?? false);
    expect(failure.error).toContain("1 of the engine's objects could not be deleted");
    expect(harness.engine("e").metadata?.finalizers).toEqual(["compute.firebolt.io/engine-cleanup"]);
    expect(harness.statefulSet("e", 0)?.metadata?.deletionTimestamp).toBeUndefined();
    // It backs off: no storm while nothing can be done. A slow machine only makes it take longer.
    const failedMs = () => operator.log.filter(({ message }) => message === "pass failed").map(({ atMs }) => atMs);
    await eventually(() => failedMs().length > BACK_OFFS);
    const [first = 0] = failedMs();
    // The deletions of the rest start passes of their own, which cut the first, short delays.
    expect((failedMs()[BACK_OFFS] ?? 0) - first).toBeGreaterThan((5 * 2 ** BACK_OFFS) / 2);
    await allow();
    await eventually(() => isGone(harness));
  });

  test("delete-rejected: a delete rejected while cleaning keeps the phase, and cleaning continues once it is allowed", async () => {
    await using harness = await openHarness("delete-rejected");
    await harness.operator();
    await harness.createEngine("e");
    await harness.settled("e", 0);
    const allow = await refuseDeletes(harness);
    await harness.edit("e", image("two"));
    await harness.until("e", ({ status }) => status?.phase === "cleaning", "cleans");
    await eventually(() => harness.target("e") === 1);
    expect(harness.history.latest("ConfigMap", "e-g0-config")).toBeDefined();
    await allow();
    await harness.settled("e", 1);
    expect(harness.broken()).toEqual([]);
  });

  test("foreign-finalizer: an object with a finalizer of another controller does not block the engine; an event names it", async () => {
    await using harness = await openHarness("foreign-finalizer");
    let operatorCaches: EngineCaches | undefined;
    await harness.operator({
      showCaches: (caches) => {
        operatorCaches = caches;
      },
    });
    await harness.createEngine("e");
    const { metadata } = await harness.settled("e", 0);
    const patch = { type: "merge", body: { metadata: { finalizers: ["example.com/hold"] } } } as const;
    await harness.client.patch(configMaps, inHarness(harness, "e-g0-config"), patch);
    // The operator's own watch shows it, not the one of the history.
    await eventually(
      () =>
        operatorCaches?.children.ConfigMap.get(inHarness(harness, "e-g0-config"))?.metadata?.finalizers !== undefined,
    );
    await harness.client.delete(FireboltEngine, inHarness(harness, "e"));
    await eventually(() => harness.history.present("FireboltEngine").length === 0);
    await eventually(
      () => harness.history.latest("ConfigMap", "e-g0-config")?.metadata?.deletionTimestamp !== undefined,
    );
    const warning = await eventually(async () => {
      const { items } = await harness.client.list(eventResource, { namespace: harness.namespace });
      return items.find(({ reason }) => reason === "ExternalFinalizerOnOwnedResource") ?? false;
    });
    expect(warning).toMatchObject({ type: "Warning", regarding: { uid: metadata?.uid } });
    expect(warning.note).toContain("ConfigMap/e-g0-config: example.com/hold");
    const last = harness.history.of("FireboltEngine", "e").findLast(({ change }) => change === "stored");
    expect(last === undefined ? undefined : readyOf(last.object)?.reason).toBe("ExternalFinalizer");
  });

  test("same-name-again, foreign-objects-untouched: an engine of the same name waits for the old one's objects, adopts none, and then takes their names", async () => {
    await using harness = await openHarness("same-name-again");
    await harness.operator();
    await harness.createEngine("e");
    const old = await harness.settled("e", 0);
    const hold = { type: "merge", body: { metadata: { finalizers: ["example.com/hold"] } } } as const;
    await harness.client.patch(configMaps, inHarness(harness, "e-g0-config"), hold);
    await eventually(() => harness.history.latest("ConfigMap", "e-g0-config")?.metadata?.finalizers !== undefined);
    await harness.client.delete(FireboltEngine, inHarness(harness, "e"));
    await eventually(() => harness.history.present("FireboltEngine").length === 0);
    await harness.createEngine("e");
    const waiting = await harness.until(
      "e",
      ({ status }) => status?.conditions?.some(({ reason }) => reason === "NameInUse") === true,
      "waits for a name",
    );
    const ready = waiting.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready).toMatchObject({ status: "False", message: expect.stringContaining("ConfigMap") });
    expect(ready?.message).toContain("e-g0-config");
    expect(harness.history.latest("ConfigMap", "e-g0-config")?.metadata?.ownerReferences?.[0]?.uid).toBe(
      old.metadata?.uid,
    );
    const release = { type: "merge", body: { metadata: { finalizers: null } } } as const;
    await harness.client.patch(configMaps, inHarness(harness, "e-g0-config"), release);
    const fresh = await harness.settled("e", 0);
    expect(fresh.metadata?.uid).not.toBe(old.metadata?.uid);
    for (const object of [harness.history.latest("ConfigMap", "e-g0-config"), harness.statefulSet("e", 0)])
      expect(object?.metadata?.ownerReferences?.[0]?.uid).toBe(fresh.metadata?.uid);
  });
});
