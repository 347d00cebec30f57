// The volume of the built-in PostgreSQL where the control plane decides: a class that cannot expand, a class that does not exist, a policy that
// changes claim templates, a claim without labels, a deletion that the garbage collector carries out, and engines whose CRD is gone.
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { splitNextStep } from "../../src/api/next-step.ts";
import { eventually } from "../support/cluster.ts";
import type { Room } from "../support/instance-cluster.ts";
import { conditionOf, type InstanceLab, openInstanceLab, reaches } from "../support/instance-lab.ts";
import { startMutatingPolicy } from "../support/mutating-policy.ts";

let lab: InstanceLab;
beforeAll(async () => {
  lab = await openInstanceLab();
});
afterAll(() => lab?.[Symbol.asyncDispose]());

const CLAIM = "data-lakeside-metadata-pg-0";
const SECRET = "lakeside-metadata-postgres-creds";
const POSTGRES = "lakeside-metadata-pg";

const messageOf = async (room: Room) =>
  (await room.instance()).status?.conditions?.find(({ type }) => type === "MetadataReady")?.message ?? "";
const setStorage = (room: Room, storage: object | null, more: object = {}) =>
  room.patch("FireboltInstance", "lakeside", { spec: { metadata: { builtInPostgres: { storage, ...more } } } });
const claimAt = async (room: Room, ...at: readonly string[]) =>
  valueAt(await room.find("PersistentVolumeClaim", CLAIM), at);
const withDatabase = (builtInPostgres: object) => ({ metadata: { builtInPostgres } });

/** As a person claims a volume by its name. */
async function claimVolume(room: Room, labels: Readonly<Record<string, string>> = {}): Promise<void> {
  const spec = {
    volumeName: `${room.name}-volume`,
    storageClassName: "",
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "10Gi" } },
  };
  await room.create("PersistentVolumeClaim", { metadata: { name: CLAIM, labels }, spec });
  await eventually(async () => expect(await claimAt(room, "status", "phase")).toBe("Bound"), { timeoutMs: 150_000 });
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

/** A volume that somebody made by hand: no class can expand it. */
async function provide(room: Room, storage: string): Promise<void> {
  const claimRef = { namespace: room.name, name: CLAIM };
  const spec = { capacity: { storage }, accessModes: ["ReadWriteOnce"], claimRef, hostPath: { path: "/tmp/none" } };
  const body = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: `${room.name}-volume` }, spec };
  await lab.cluster.api.expect({ method: "POST", path: "/api/v1/persistentvolumes", body });
}

async function bound(room: Room, storage: string): Promise<void> {
  await provide(room, storage);
  await eventually(async () => expect(await claimAt(room, "status", "phase")).toBe("Bound"), { timeoutMs: 150_000 });
  await eventually(async () =>
    expect((await room.instance()).status?.builtInPostgres?.claimUID).toBe(await claimAt(room, "metadata", "uid")),
  );
}

test("a size that the class cannot provide is told; Ready stays, and the size that the claim has is accepted again", async () => {
  const room = await lab.provisioned(withDatabase({ storage: { size: "1Gi" } }));
  await bound(room, "1Gi");
  await setStorage(room, { size: "2Gi" });
  await eventually(async () => {
    const { cause, next } = splitNextStep(await messageOf(room));
    expect(cause).toMatch(new RegExp(`PersistentVolumeClaim ${CLAIM} keeps its 1Gi of .*only dynamically provisioned`));
    expect(next).toMatch(/^set spec\.metadata\.builtInPostgres\.storage\.size back to 1Gi/);
  });
  const instance = await room.instance();
  expect(conditionOf(instance, "Ready")).toBe("True/AllComponentsReady");
  expect(instance.status?.phase).toBe("Ready");
  await setStorage(room, { size: "1Gi" });
  await eventually(async () => expect(await messageOf(room)).toBe("Deployment lakeside-metadata has a ready replica"));
  expect(conditionOf(await room.instance(), "Ready")).toBe("True/AllComponentsReady");
});

test("a class that does not exist is named, and a corrected one takes one deletion", async () => {
  const room = await lab.provisioned(withDatabase({ storage: { storageClassName: "typo" } }));
  await room.setReady("metadata", false);
  await eventually(
    async () => {
      const { cause, next } = splitNextStep(await messageOf(room));
      expect(cause).toContain(`PersistentVolumeClaim ${CLAIM} has no volume: StorageClass "typo" does not exist`);
      expect(next).toMatch(/storageClassName to one that exists .*kubectl delete pvc/);
    },
    { timeoutMs: 90_000 },
  );
  await setStorage(room, { storageClassName: "fast" });
  await eventually(async () =>
    expect(await messageOf(room)).toMatch(/it never had a volume and so holds no data; next: delete/),
  );
  await eventually(async () => expect(await room.find("StatefulSet", POSTGRES)).toBeUndefined());
  await eventually(async () => expect(await room.find("Pod", "lakeside-metadata-pg-0")).toBeUndefined());
  expect(await claimAt(room, "spec", "storageClassName")).toBe("typo");
  await room.remove("PersistentVolumeClaim", CLAIM);
  await eventually(async () => expect(await claimAt(room, "spec", "storageClassName")).toBe("fast"), {
    timeoutMs: 150_000,
  });
  await room.setReady("metadata", true);
  await reaches(room, "Ready");
});

test("a size that the API server rounds is provided, and nothing is refused", async () => {
  const room = await lab.provisioned(withDatabase({ storage: { size: "1.0001Gi" } }));
  await bound(room, "3Gi");
  expect(await claimAt(room, "spec", "resources", "requests", "storage")).toBe("1073849198183m");
  await lab.passes(3);
  await reaches(room, "Ready");
  await eventually(async () => expect(await messageOf(room)).toBe("Deployment lakeside-metadata has a ready replica"));
});

test("an admission policy that sets the class of claim templates: the StatefulSet stays, and another wish makes it anew once", async () => {
  const room = await lab.cluster.namespace();
  const path = "/spec/volumeClaimTemplates/0/spec/storageClassName";
  await using _policy = await startMutatingPolicy(lab.cluster, room.name, [{ op: "add", path, value: "policy" }]);
  const made = async () => {
    const statefulSet = await room.find("StatefulSet", POSTGRES);
    return valueAt(statefulSet, ["metadata", "uid"]);
  };
  // Until the API server has heard of the policy nothing is changed by it.
  await eventually(async () => {
    const body = { metadata: { name: "probe" }, spec: { ...PROBE } };
    const at = `/apis/apps/v1/namespaces/${room.name}/statefulsets?dryRun=All`;
    const { body: stored } = await lab.cluster.api.expect({ method: "POST", path: at, body });
    const templates = valueAt(stored, ["spec", "volumeClaimTemplates"]);
    expect(Array.isArray(templates) && valueAt(templates[0], ["spec", "storageClassName"])).toBe("policy");
  });
  await room.createInstance();
  const first = await eventually(async () => (await made()) ?? false);
  await eventually(async () => expect(await claimAt(room, "spec", "storageClassName")).toBe("policy"));
  const sent = await lab.requestsDuring(() => lab.passes(10));
  expect(sent.filter((request) => request.startsWith("delete"))).toEqual([]);
  expect(await made()).toBe(first);
  const again = await lab.requestsDuring(async () => {
    await setStorage(room, { size: "20Gi" });
    await eventually(async () => expect([first, undefined]).not.toContain(await made()));
    await lab.passes(10);
  });
  expect(again.filter((request) => request.startsWith("delete"))).toHaveLength(1);
});

test("a claim without labels that was there before the instance is the catalogue, and its deletion is noticed", async () => {
  const room = await lab.cluster.namespace();
  await provide(room, "10Gi");
  await claimVolume(room);
  await room.createInstance();
  await reaches(room, "Ready");
  const uid = await claimAt(room, "metadata", "uid");
  await eventually(async () => expect((await room.instance()).status?.builtInPostgres?.claimUID).toBe(uid));
  await room.remove("PersistentVolumeClaim", CLAIM);
  await eventually(
    async () => expect(conditionOf(await room.instance(), "MetadataReady")).toBe("False/CatalogueLost"),
    {
      timeoutMs: 150_000,
    },
  );
});

test("a volume that outlived its claim is taken back by a claim of its own, as the page says", async () => {
  const room = await lab.provisioned();
  await bound(room, "10Gi");
  const first = await claimAt(room, "metadata", "uid");
  const volume = `/api/v1/persistentvolumes/${room.name}-volume`;
  await room.remove("PersistentVolumeClaim", CLAIM);
  await eventually(async () => expect(conditionOf(await room.instance(), "MetadataReady")).toBe("False/CatalogueLost"));
  await room.remove("Pod", "lakeside-metadata-pg-0");
  await eventually(async () => expect(await claimAt(room, "metadata", "uid")).not.toBe(first), { timeoutMs: 150_000 });
  await eventually(async () => expect(valueAt(await room.get("StatefulSet", POSTGRES), ["spec", "replicas"])).toBe(0));
  await eventually(async () => expect(await room.find("Pod", "lakeside-metadata-pg-0")).toBeUndefined());
  await room.remove("PersistentVolumeClaim", CLAIM);
  await eventually(async () => expect(await room.find("PersistentVolumeClaim", CLAIM)).toBeUndefined());
  await eventually(async () =>
    expect(valueAt((await lab.cluster.api.expect({ path: volume })).body, ["status", "phase"])).toBe("Released"),
  );
  const contentType = "application/merge-patch+json";
  await lab.cluster.api.expect({ method: "PATCH", path: volume, body: { spec: { claimRef: null } }, contentType });
  const labels = { "firebolt.io/instance": "lakeside", "firebolt.io/component": "postgres" };
  await claimVolume(room, labels);
  await eventually(async () => expect(conditionOf(await room.instance(), "MetadataReady")).toBe("False/CatalogueLost"));
  const uid = await claimAt(room, "metadata", "uid");
  const annotations = { "firebolt.io/accept-empty-catalogue": uid };
  await room.patch("FireboltInstance", "lakeside", { metadata: { annotations } });
  await reaches(room, "Ready");
  await eventually(async () => expect(valueAt(await room.get("StatefulSet", POSTGRES), ["spec", "replicas"])).toBe(1));
  await eventually(async () => expect((await room.instance()).status?.builtInPostgres?.claimUID).toBe(uid));
});

test.each(["from the start", "switched on later"])(
  "--cascade=foreground leaves a retained volume and its password: %s",
  async (when) => {
    const retained = { volumeRetention: "Retain" };
    const room = await lab.provisioned(when === "from the start" ? withDatabase(retained) : {});
    const [claim, secret] = [await claimUid(room), await secretUid(room)];
    expect([claim, secret]).not.toContain(undefined);
    if (when !== "from the start") await room.patch("FireboltInstance", "lakeside", { spec: withDatabase(retained) });
    await eventually(async () =>
      expect(valueAt(await room.get("Secret", SECRET), ["metadata", "ownerReferences"])).toBeUndefined(),
    );
    const path = `/apis/compute.firebolt.io/v1alpha1/namespaces/${room.name}/fireboltinstances/lakeside?propagationPolicy=Foreground`;
    await lab.cluster.api.expect({ method: "DELETE", path });
    await eventually(async () => expect(await room.find("FireboltInstance", "lakeside")).toBeUndefined(), {
      timeoutMs: 150_000,
    });
    await eventually(async () => expect(await room.names("StatefulSet")).toEqual([]));
    expect([await claimUid(room), await secretUid(room)]).toEqual([claim, secret]);
    expect(await claimAt(room, "metadata", "deletionTimestamp")).toBeUndefined();
    // They open the catalogue for the next instance of that name.
    await room.createInstance(withDatabase(retained));
    await reaches(room, "Ready");
    expect([await claimUid(room), await secretUid(room)]).toEqual([claim, secret]);
  },
);

const claimUid = (room: Room) => eventually(async () => (await claimAt(room, "metadata", "uid")) ?? false);
const secretUid = async (room: Room) => valueAt(await room.find("Secret", SECRET), ["metadata", "uid"]);

// The last one: there are no engines in this cluster any more.
test("without the CRD of engines nothing holds the deletion of an instance", async () => {
  const room = await lab.provisioned();
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/fireboltengines.compute.firebolt.io";
  await lab.cluster.api.expect({ method: "DELETE", path });
  const engines = `/apis/compute.firebolt.io/v1alpha1/namespaces/${room.name}/fireboltengines`;
  await eventually(async () => expect((await lab.cluster.api.expect({ path: engines }, [404])).status).toBe(404));
  await room.remove("FireboltInstance", "lakeside");
  await eventually(async () => expect(await room.find("FireboltInstance", "lakeside")).toBeUndefined());
  expect(await room.names("Deployment")).toEqual([]);
});
