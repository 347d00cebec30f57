// The end of engines: everything of theirs goes at once, the finalizer last, and only when the API server has accepted every delete.
// Refusals come from the API server itself (admission policies), not from the test.
import { defineResource } from "@firebolt-operator/kube";
import { eventResource } from "@firebolt-operator/kube/events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import type { EngineCaches } from "../../src/engine/cluster/caches.ts";
import { configMaps, statefulSets } from "../../src/engine/cluster/kinds.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type EngineControlPlane, startEngineControlPlane } from "./support/engine-control-plane.ts";
import { type EngineLab, image, openEngineLab, readyOf } from "./support/engine-harness.ts";
import { untilIdle } from "./support/request-counts.ts";

let plane: EngineControlPlane;
beforeAll(async () => {
  plane = await startEngineControlPlane();
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

const inLab = (lab: EngineLab, name: string) => ({ namespace: lab.namespace, name });

async function openLab(prefix: string): Promise<EngineLab> {
  const lab = await openEngineLab(plane, prefix);
  await lab.createInstance();
  return lab;
}

/** The API server refuses to delete StatefulSets of this namespace until the answer is called. */
async function refuseDeletes(lab: EngineLab): Promise<() => Promise<void>> {
  const { client, namespace } = lab;
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
    client.delete(statefulSets, inLab(lab, "e-g0"), { dryRun: true }).then(
      () => false,
      (error: unknown) => String(error).includes("no deletes today"),
    );
  await eventually(refused, { describe: "the policy is in force" });
  return async () => {
    await client.delete(Bindings, metadata);
    await client.delete(Policies, metadata);
  };
}

const isGone = (lab: EngineLab): void => {
  expect(lab.history.present("FireboltEngine")).toEqual([]);
  expect(lab.history.present("StatefulSet")).toEqual([]);
  expect(lab.history.present("Service")).toEqual([]);
  expect(lab.history.present("ConfigMap").map(({ metadata }) => metadata?.name)).toEqual(["kube-root-ca.crt"]);
  expect(lab.history.present("Pod")).toEqual([]);
};

describe.concurrent("deletion", () => {
  test("engine-deleted, delete-engine: at rest takes everything with it, without a drain, finalizer last", async () => {
    await using lab = await openLab("engine-deleted");
    const operator = await lab.operator();
    await lab.createEngine("e");
    await lab.settled("e", 0);
    for (const pod of lab.pods("e", 0)) lab.queries(pod, { running: 1 });
    // The event that tells of the creation's end is written a moment after it.
    await eventually(() => operator.requests.some(({ resource }) => resource.startsWith("events")));
    await untilIdle(operator);
    const before = operator.requests.length;
    await lab.client.delete(FireboltEngine, inLab(lab, "e"));
    await eventually(() => isGone(lab));
    // The list of StatefulSets, four deletes, the finalizer.
    expect(operator.requests.slice(before).map(({ verb }) => verb)).toEqual([
      "list",
      "delete",
      "delete",
      "delete",
      "delete",
      "patch",
    ]);
    const end = lab.history.of("FireboltEngine", "e").findLast(({ change }) => change === "removed");
    const marks = lab.history.of("StatefulSet", "e-g0").filter(({ object }) => object.metadata?.deletionTimestamp);
    expect(marks[0]?.version).toBeLessThan(end?.version ?? 0n);
  });

  test.each([
    {
      phase: "creating",
      prepare: (lab: EngineLab) => lab.edit("e", { template: { spec: { nodeSelector: lab.hold } } }),
    },
    {
      phase: "draining",
      prepare: (lab: EngineLab) => {
        lab.queries(lab.pods("e", 0)[0], { running: 1 });
        return lab.edit("e", image("two"));
      },
    },
  ])("engine-deleted: in the middle of $phase takes both generations with it", async ({ phase, prepare }) => {
    await using lab = await openLab("engine-deleted-again");
    await lab.operator();
    await lab.createEngine("e");
    await lab.settled("e", 0);
    await prepare(lab);
    await eventually(() => lab.engine("e").status?.phase === phase && lab.pods("e", 1).length === 2);
    await lab.client.delete(FireboltEngine, inLab(lab, "e"));
    await eventually(() => isGone(lab));
  });

  test("delete-refused, finalizer-goes-last: a refused delete keeps the finalizer, the rest goes anyway, and it ends when deletes are allowed", async () => {
    await using lab = await openLab("delete-refused");
    const operator = await lab.operator();
    await lab.createEngine("e");
    await lab.settled("e", 0);
    const allow = await refuseDeletes(lab);
    await lab.client.delete(FireboltEngine, inLab(lab, "e"));
    await eventually(() => {
      expect(lab.history.present("Service")).toEqual([]);
      expect(lab.history.latest("ConfigMap", "e-g0-config")).toBeUndefined();
    });
    const failure = await eventually(() => operator.log.find(({ message }) => message === "pass failed") ?? false);
    expect(failure.error).toContain("1 of the engine's objects could not be deleted");
    expect(lab.engine("e").metadata?.finalizers).toEqual(["compute.firebolt.io/engine-cleanup"]);
    expect(lab.statefulSet("e", 0)?.metadata?.deletionTimestamp).toBeUndefined();
    // It backs off: no storm while nothing can be done. A slow machine only makes it take longer.
    const failedMs = () => operator.log.filter(({ message }) => message === "pass failed").map(({ atMs }) => atMs);
    await eventually(() => failedMs().length > BACK_OFFS);
    const [first = 0] = failedMs();
    // The deletions of the rest start passes of their own, which cut the first, short delays.
    expect((failedMs()[BACK_OFFS] ?? 0) - first).toBeGreaterThan((5 * 2 ** BACK_OFFS) / 2);
    await allow();
    await eventually(() => isGone(lab));
  });

  test("delete-rejected: a delete refused while cleaning keeps the phase, and cleaning goes on when it is allowed", async () => {
    await using lab = await openLab("delete-rejected");
    await lab.operator();
    await lab.createEngine("e");
    await lab.settled("e", 0);
    const allow = await refuseDeletes(lab);
    await lab.edit("e", image("two"));
    await lab.until("e", ({ status }) => status?.phase === "cleaning", "cleans");
    await eventually(() => lab.target("e") === 1);
    expect(lab.history.latest("ConfigMap", "e-g0-config")).toBeDefined();
    await allow();
    await lab.settled("e", 1);
    expect(lab.broken()).toEqual([]);
  });

  test("foreign-finalizer: an object held by somebody else's finalizer does not hold the engine; an event names it", async () => {
    await using lab = await openLab("foreign-finalizer");
    let operatorCaches: EngineCaches | undefined;
    await lab.operator({
      showCaches: (caches) => {
        operatorCaches = caches;
      },
    });
    await lab.createEngine("e");
    const { metadata } = await lab.settled("e", 0);
    const patch = { type: "merge", body: { metadata: { finalizers: ["example.com/hold"] } } } as const;
    await lab.client.patch(configMaps, inLab(lab, "e-g0-config"), patch);
    // The operator's own watch tells it, not the one of the history.
    await eventually(
      () => operatorCaches?.children.ConfigMap.get(inLab(lab, "e-g0-config"))?.metadata?.finalizers !== undefined,
    );
    await lab.client.delete(FireboltEngine, inLab(lab, "e"));
    await eventually(() => lab.history.present("FireboltEngine").length === 0);
    await eventually(() => lab.history.latest("ConfigMap", "e-g0-config")?.metadata?.deletionTimestamp !== undefined);
    const warning = await eventually(async () => {
      const { items } = await lab.client.list(eventResource, { namespace: lab.namespace });
      return items.find(({ reason }) => reason === "ExternalFinalizerOnOwnedResource") ?? false;
    });
    expect(warning).toMatchObject({ type: "Warning", regarding: { uid: metadata?.uid } });
    expect(warning.note).toContain("ConfigMap/e-g0-config: example.com/hold");
    const last = lab.history.of("FireboltEngine", "e").findLast(({ change }) => change === "stored");
    expect(last === undefined ? undefined : readyOf(last.object)?.reason).toBe("ExternalFinalizer");
  });

  test("same-name-again, foreign-objects-untouched: an engine of the same name waits for the old one's objects, adopts none, and then takes their names", async () => {
    await using lab = await openLab("same-name-again");
    await lab.operator();
    await lab.createEngine("e");
    const old = await lab.settled("e", 0);
    const hold = { type: "merge", body: { metadata: { finalizers: ["example.com/hold"] } } } as const;
    await lab.client.patch(configMaps, inLab(lab, "e-g0-config"), hold);
    await eventually(() => lab.history.latest("ConfigMap", "e-g0-config")?.metadata?.finalizers !== undefined);
    await lab.client.delete(FireboltEngine, inLab(lab, "e"));
    await eventually(() => lab.history.present("FireboltEngine").length === 0);
    await lab.createEngine("e");
    const waiting = await lab.until(
      "e",
      ({ status }) => status?.conditions?.some(({ reason }) => reason === "NameInUse") === true,
      "waits for a name",
    );
    const ready = waiting.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready).toMatchObject({ status: "False", message: expect.stringContaining("ConfigMap") });
    expect(ready?.message).toContain("e-g0-config");
    expect(lab.history.latest("ConfigMap", "e-g0-config")?.metadata?.ownerReferences?.[0]?.uid).toBe(old.metadata?.uid);
    const release = { type: "merge", body: { metadata: { finalizers: null } } } as const;
    await lab.client.patch(configMaps, inLab(lab, "e-g0-config"), release);
    const fresh = await lab.settled("e", 0);
    expect(fresh.metadata?.uid).not.toBe(old.metadata?.uid);
    for (const object of [lab.history.latest("ConfigMap", "e-g0-config"), lab.statefulSet("e", 0)])
      expect(object?.metadata?.ownerReferences?.[0]?.uid).toBe(fresh.metadata?.uid);
  });
});
