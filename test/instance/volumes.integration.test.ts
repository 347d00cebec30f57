// The volume of the built-in PostgreSQL where the control plane decides: a class that cannot expand, a class that does not exist, a policy that
// changes claim templates, a claim without labels, a deletion that the garbage collector carries out, and engines whose CRD is gone.
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { splitNextStep } from "../harness/fixtures/next-step.ts";
import type { TestNamespace } from "./support/instance-cluster.ts";
import { conditionOf, type InstanceHarness, openInstanceHarness, reaches } from "./support/instance-harness.ts";
import { startMutatingPolicy } from "./support/mutating-webhook.ts";

let harness: InstanceHarness;
beforeAll(async () => {
  harness = await openInstanceHarness();
});
afterAll(() => harness?.[Symbol.asyncDispose]());

const CLAIM = "data-lakeside-metadata-pg-0";
const SECRET = "lakeside-metadata-postgres-creds";
const POSTGRES = "lakeside-metadata-pg";

const messageOf = async (ns: TestNamespace) =>
  (await ns.instance()).status?.conditions?.find(({ type }) => type === "MetadataReady")?.message ?? "";
const setStorage = (ns: TestNamespace, storage: object | null, more: object = {}) =>
  ns.patch("FireboltInstance", "lakeside", { spec: { metadata: { builtInPostgres: { storage, ...more } } } });
const claimAt = async (ns: TestNamespace, ...at: readonly string[]) =>
  valueAt(await ns.find("PersistentVolumeClaim", CLAIM), at);
const withDatabase = (builtInPostgres: object) => ({ metadata: { builtInPostgres } });

/** As a person claims a volume by its name. */
async function claimVolume(ns: TestNamespace, labels: Readonly<Record<string, string>> = {}): Promise<void> {
  const spec = {
    volumeName: `${ns.name}-volume`,
    storageClassName: "",
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "10Gi" } },
  };
  await ns.create("PersistentVolumeClaim", { metadata: { name: CLAIM, labels }, spec });
  await eventually(async () => expect(await claimAt(ns, "status", "phase")).toBe("Bound"), { timeoutMs: 150_000 });
}

/** Just enough of a StatefulSet to see what a policy makes of it. */
const PROBE = {
  selector: { matchLabels: { probe: "policy" } },
  serviceName: "probe",
  template: {
    metadata: { labels: { probe: "policy" } },
    spec: { containers: [{ name: "probe", image: "probe" }] },
  },
  volumeClaimTemplates: [
    {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
  ],
};

/** A manually created volume: no class can expand it. */
async function provide(ns: TestNamespace, storage: string): Promise<void> {
  const claimRef = { namespace: ns.name, name: CLAIM };
  const spec = { capacity: { storage }, accessModes: ["ReadWriteOnce"], claimRef, hostPath: { path: "/tmp/none" } };
  const body = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: `${ns.name}-volume` }, spec };
  await harness.cluster.api.expect({ method: "POST", path: "/api/v1/persistentvolumes", body });
}

async function bound(ns: TestNamespace, storage: string): Promise<void> {
  await provide(ns, storage);
  await eventually(async () => expect(await claimAt(ns, "status", "phase")).toBe("Bound"), { timeoutMs: 150_000 });
  await eventually(async () =>
    expect((await ns.instance()).status?.builtInPostgres?.claimUID).toBe(await claimAt(ns, "metadata", "uid")),
  );
}

test("a size that the class cannot provide is reported; Ready stays True, and the size that the claim has is accepted again", async () => {
  const ns = await harness.provisioned(withDatabase({ storage: { size: "1Gi" } }));
  await bound(ns, "1Gi");
  await setStorage(ns, { size: "2Gi" });
  await eventually(async () => {
    const { cause, next } = splitNextStep(await messageOf(ns));
    expect(cause).toMatch(new RegExp(`PersistentVolumeClaim ${CLAIM} keeps its 1Gi of .*only dynamically provisioned`));
    expect(next).toMatch(/^set spec\.metadata\.builtInPostgres\.storage\.size back to 1Gi/);
  });
  const instance = await ns.instance();
  expect(conditionOf(instance, "Ready")).toBe("True/AllComponentsReady");
  expect(instance.status?.phase).toBe("Ready");
  await setStorage(ns, { size: "1Gi" });
  await eventually(async () => expect(await messageOf(ns)).toBe("Deployment lakeside-metadata has a ready replica"));
  expect(conditionOf(await ns.instance(), "Ready")).toBe("True/AllComponentsReady");
});

test("a class that does not exist is named, and a corrected one takes one deletion", async () => {
  const ns = await harness.provisioned(withDatabase({ storage: { storageClassName: "typo" } }));
  await ns.setReady("metadata", false);
  await eventually(
    async () => {
      const { cause, next } = splitNextStep(await messageOf(ns));
      expect(cause).toContain(`PersistentVolumeClaim ${CLAIM} has no volume: StorageClass "typo" does not exist`);
      expect(next).toMatch(/storageClassName to one that exists .*kubectl delete pvc/);
    },
    { timeoutMs: 90_000 },
  );
  await setStorage(ns, { storageClassName: "fast" });
  await eventually(async () =>
    expect(await messageOf(ns)).toMatch(/it never had a volume and so holds no data; next: delete/),
  );
  await eventually(async () => expect(await ns.find("StatefulSet", POSTGRES)).toBeUndefined());
  await eventually(async () => expect(await ns.find("Pod", "lakeside-metadata-pg-0")).toBeUndefined());
  expect(await claimAt(ns, "spec", "storageClassName")).toBe("typo");
  await ns.remove("PersistentVolumeClaim", CLAIM);
  await eventually(async () => expect(await claimAt(ns, "spec", "storageClassName")).toBe("fast"), {
    timeoutMs: 150_000,
  });
  await ns.setReady("metadata", true);
  await reaches(ns, "Ready");
});

test("a size that the API server rounds is provided, and nothing is rejected", async () => {
  const ns = await harness.provisioned(withDatabase({ storage: { size: "1.0001Gi" } }));
  await bound(ns, "3Gi");
  expect(await claimAt(ns, "spec", "resources", "requests", "storage")).toBe("1073849198183m");
  await harness.passes(3);
  await reaches(ns, "Ready");
  await eventually(async () => expect(await messageOf(ns)).toBe("Deployment lakeside-metadata has a ready replica"));
});

test("an admission policy that sets the class of claim templates: the StatefulSet stays, and another class in the spec recreates it once", async () => {
  const ns = await harness.cluster.namespace();
  const path = "/spec/volumeClaimTemplates/0/spec/storageClassName";
  await using _policy = await startMutatingPolicy(harness.cluster, ns.name, [{ op: "add", path, value: "policy" }]);
  const made = async () => {
    const statefulSet = await ns.find("StatefulSet", POSTGRES);
    return valueAt(statefulSet, ["metadata", "uid"]);
  };
  // Until the API server has heard of the policy nothing is changed by it.
  await eventually(async () => {
    const body = { metadata: { name: "probe" }, spec: { ...PROBE } };
    const at = `/apis/apps/v1/namespaces/${ns.name}/statefulsets?dryRun=All`;
    const { body: stored } = await harness.cluster.api.expect({ method: "POST", path: at, body });
    const templates = valueAt(stored, ["spec", "volumeClaimTemplates"]);
    expect(Array.isArray(templates) && valueAt(templates[0], ["spec", "storageClassName"])).toBe("policy");
  });
  await ns.createInstance();
  const first = await eventually(async () => (await made()) ?? false);
  await eventually(async () => expect(await claimAt(ns, "spec", "storageClassName")).toBe("policy"));
  const sent = await harness.requestsDuring(() => harness.passes(10));
  expect(sent.filter((request) => request.startsWith("delete"))).toEqual([]);
  expect(await made()).toBe(first);
  const again = await harness.requestsDuring(async () => {
    await setStorage(ns, { size: "20Gi" });
    await eventually(async () => expect([first, undefined]).not.toContain(await made()));
    await harness.passes(10);
  });
  expect(again.filter((request) => request.startsWith("delete"))).toHaveLength(1);
});

test("a claim without labels that was there before the instance is the catalogue, and its deletion is noticed", async () => {
  const ns = await harness.cluster.namespace();
  await provide(ns, "10Gi");
  await claimVolume(ns);
  await ns.createInstance();
  await reaches(ns, "Ready");
  const uid = await claimAt(ns, "metadata", "uid");
  await eventually(async () => expect((await ns.instance()).status?.builtInPostgres?.claimUID).toBe(uid));
  await ns.remove("PersistentVolumeClaim", CLAIM);
  await eventually(async () => expect(conditionOf(await ns.instance(), "MetadataReady")).toBe("False/CatalogueLost"), {
    timeoutMs: 150_000,
  });
});

test("a retained volume is reattached by a new claim, as documented", async () => {
  const ns = await harness.provisioned();
  await bound(ns, "10Gi");
  const first = await claimAt(ns, "metadata", "uid");
  const volume = `/api/v1/persistentvolumes/${ns.name}-volume`;
  await ns.remove("PersistentVolumeClaim", CLAIM);
  await eventually(async () => expect(conditionOf(await ns.instance(), "MetadataReady")).toBe("False/CatalogueLost"));
  await ns.remove("Pod", "lakeside-metadata-pg-0");
  await eventually(async () => expect(await claimAt(ns, "metadata", "uid")).not.toBe(first), { timeoutMs: 150_000 });
  await eventually(async () => expect(valueAt(await ns.get("StatefulSet", POSTGRES), ["spec", "replicas"])).toBe(0));
  await eventually(async () => expect(await ns.find("Pod", "lakeside-metadata-pg-0")).toBeUndefined());
  await ns.remove("PersistentVolumeClaim", CLAIM);
  await eventually(async () => expect(await ns.find("PersistentVolumeClaim", CLAIM)).toBeUndefined());
  await eventually(async () =>
    expect(valueAt((await harness.cluster.api.expect({ path: volume })).body, ["status", "phase"])).toBe("Released"),
  );
  const contentType = "application/merge-patch+json";
  await harness.cluster.api.expect({ method: "PATCH", path: volume, body: { spec: { claimRef: null } }, contentType });
  const labels = { "firebolt.io/instance": "lakeside", "firebolt.io/component": "postgres" };
  await claimVolume(ns, labels);
  await eventually(async () => expect(conditionOf(await ns.instance(), "MetadataReady")).toBe("False/CatalogueLost"));
  const uid = await claimAt(ns, "metadata", "uid");
  const annotations = { "firebolt.io/accept-empty-catalogue": uid };
  await ns.patch("FireboltInstance", "lakeside", { metadata: { annotations } });
  await reaches(ns, "Ready");
  await eventually(async () => expect(valueAt(await ns.get("StatefulSet", POSTGRES), ["spec", "replicas"])).toBe(1));
  await eventually(async () => expect((await ns.instance()).status?.builtInPostgres?.claimUID).toBe(uid));
});

test.each(["from the start", "switched on later"])(
  "--cascade=foreground leaves a retained volume and its password: %s",
  async (when) => {
    const retained = { volumeRetention: "Retain" };
    const ns = await harness.provisioned(when === "from the start" ? withDatabase(retained) : {});
    const [claim, secret] = [await claimUid(ns), await secretUid(ns)];
    expect([claim, secret]).not.toContain(undefined);
    if (when !== "from the start") await ns.patch("FireboltInstance", "lakeside", { spec: withDatabase(retained) });
    await eventually(async () =>
      expect(valueAt(await ns.get("Secret", SECRET), ["metadata", "ownerReferences"])).toBeUndefined(),
    );
    const path = `/apis/compute.firebolt.io/v1alpha1/namespaces/${ns.name}/fireboltinstances/lakeside?propagationPolicy=Foreground`;
    await harness.cluster.api.expect({ method: "DELETE", path });
    await eventually(async () => expect(await ns.find("FireboltInstance", "lakeside")).toBeUndefined(), {
      timeoutMs: 150_000,
    });
    await eventually(async () => expect(await ns.names("StatefulSet")).toEqual([]));
    expect([await claimUid(ns), await secretUid(ns)]).toEqual([claim, secret]);
    expect(await claimAt(ns, "metadata", "deletionTimestamp")).toBeUndefined();
    // They open the catalogue for the next instance of that name.
    await ns.createInstance(withDatabase(retained));
    await reaches(ns, "Ready");
    expect([await claimUid(ns), await secretUid(ns)]).toEqual([claim, secret]);
  },
);

const claimUid = (ns: TestNamespace) => eventually(async () => (await claimAt(ns, "metadata", "uid")) ?? false);
const secretUid = async (ns: TestNamespace) => valueAt(await ns.find("Secret", SECRET), ["metadata", "uid"]);

// The last one: there are no engines in this cluster any more.
test("without the CRD of engines nothing holds the deletion of an instance", async () => {
  const ns = await harness.provisioned();
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/fireboltengines.compute.firebolt.io";
  await harness.cluster.api.expect({ method: "DELETE", path });
  const engines = `/apis/compute.firebolt.io/v1alpha1/namespaces/${ns.name}/fireboltengines`;
  await eventually(async () => expect((await harness.cluster.api.expect({ path: engines }, [404])).status).toBe(404));
  await ns.remove("FireboltInstance", "lakeside");
  await eventually(async () => expect(await ns.find("FireboltInstance", "lakeside")).toBeUndefined());
  expect(await ns.names("Deployment")).toEqual([]);
});
