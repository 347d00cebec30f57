// What an instance can lose, on a real control plane: the claim of its database, the Secret with its password, the account of its gateway. Each
// shows at once, with an event, and heals when it is mended. What it is to retain it does not lose, however early it is deleted.
import { dirname } from "node:path";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resolveAssets } from "../../dev/assets/resolver.ts";
import { runProgram } from "../../dev/assets/run-program.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import type { TestNamespace } from "./support/instance-cluster.ts";
import { conditionOf, type InstanceHarness, openInstanceHarness, reaches } from "./support/instance-harness.ts";

let harness: InstanceHarness;
beforeAll(async () => {
  harness = await openInstanceHarness();
});
afterAll(() => harness?.[Symbol.asyncDispose]());

const CLAIM = "data-lakeside-metadata-pg-0";
const SECRET = "lakeside-metadata-postgres-creds";

const eventsIn = (ns: TestNamespace, reason: string) =>
  harness.operator.events.filter((event) => event.reason === reason && event.regarding.namespace === ns.name);
const messageOf = async (ns: TestNamespace) =>
  (await ns.instance()).status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
const shows = (ns: TestNamespace, reason: string) =>
  eventually(async () => expect(conditionOf(await ns.instance(), "Ready")).toBe(`False/${reason}`));

interface StatefulSetView {
  readonly metadata: { readonly generation: number };
  readonly status: object;
}

/** As a person would run it, with the real kubectl. */
async function inShell(command: string): Promise<void> {
  const kubectl = (await resolveAssets(["kubectl"])).get("kubectl") ?? "";
  const env = { PATH: `${dirname(kubectl)}:${process.env["PATH"]}`, KUBECONFIG: harness.cluster.adminKubeconfig };
  await runProgram({ program: "/bin/sh", args: ["-euc", command], env, timeoutMs: 150_000 });
}

/** What a provisioner would do for the claim. */
async function provide(ns: TestNamespace, volume: string): Promise<void> {
  const spec = {
    capacity: { storage: "10Gi" },
    accessModes: ["ReadWriteOnce"],
    claimRef: { namespace: ns.name, name: CLAIM },
    hostPath: { path: "/tmp/none" },
  };
  const body = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: volume }, spec };
  await harness.cluster.api.expect({ method: "POST", path: "/api/v1/persistentvolumes", body });
}

const claimUid = async (ns: TestNamespace) =>
  valueAt(await ns.find("PersistentVolumeClaim", CLAIM), ["metadata", "uid"]);
const replicas = async (ns: TestNamespace) =>
  valueAt(await ns.get("StatefulSet", "lakeside-metadata-pg"), ["spec", "replicas"]);

test("a claim that is deleted, and then its pod: no other database starts until its claim is accepted", async () => {
  const ns = await harness.provisioned();
  await provide(ns, `${ns.name}-one`);
  const first = await eventually(async () => {
    const { status } = await ns.instance();
    expect(status?.builtInPostgres?.claimUID).toBe(await claimUid(ns));
    return status?.builtInPostgres?.claimUID;
  });
  await ns.remove("PersistentVolumeClaim", CLAIM);
  await shows(ns, "CatalogueLost");
  expect(await messageOf(ns)).toMatch(/is being deleted.*pg_dump.*kubectl patch pv/);
  await eventually(async () =>
    expect(
      valueAt(await ns.get("StatefulSet", "lakeside-metadata-pg"), ["spec", "template", "spec", "schedulerName"]),
    ).toBe("firebolt.io/no-empty-catalogue"),
  );
  expect(await claimUid(ns)).toBe(first);

  await ns.remove("Pod", "lakeside-metadata-pg-0");
  await eventually(async () => expect(await claimUid(ns)).not.toBe(first), { timeoutMs: 150_000 });
  await eventually(async () => expect(await replicas(ns)).toBe(0));
  await eventually(async () => expect(await messageOf(ns)).toMatch(/was (deleted|replaced)/));
  await eventually(async () => expect(await ns.find("Pod", "lakeside-metadata-pg-0")).toBeUndefined());
  await eventually(() => expect(eventsIn(ns, "CatalogueLost").length).toBeGreaterThanOrEqual(2));

  const consent = (value: string) =>
    ns.patch("FireboltInstance", "lakeside", {
      metadata: { annotations: { "firebolt.io/accept-empty-catalogue": value } },
    });
  await consent("true");
  await eventually(async () => expect(await messageOf(ns)).toMatch(/is ignored: "true" does not name this loss/));
  expect(await replicas(ns)).toBe(0);
  await consent(`lost-${first}`);
  await eventually(async () => expect(await replicas(ns)).toBe(1));
  await reaches(ns, "Ready");
  // A claim without a volume holds nothing: the lost catalogue is abandoned, and the new claim is the catalogue once it
  // has a volume.
  expect((await ns.instance()).status?.builtInPostgres).toBeUndefined();

  // Lost once more, with the consent still in place. The StatefulSet has the API server's defaults by now, which do not go with the strategy of a fence.
  await provide(ns, `${ns.name}-two`);
  await eventually(async () => {
    const { status } = await ns.instance();
    expect(status?.builtInPostgres?.claimUID).toBe(await claimUid(ns));
  });
  await eventually(async () => {
    const { metadata, status } = (await ns.get("StatefulSet", "lakeside-metadata-pg")) as StatefulSetView;
    expect(status).toMatchObject({ observedGeneration: metadata.generation, readyReplicas: 1, updatedReplicas: 1 });
    expect(valueAt(await ns.find("PersistentVolumeClaim", CLAIM), ["status", "phase"])).toBe("Bound");
  });
  await ns.remove("PersistentVolumeClaim", CLAIM);
  await shows(ns, "CatalogueLost");
  await eventually(async () =>
    expect(await ns.get("StatefulSet", "lakeside-metadata-pg")).toMatchObject({
      spec: {
        updateStrategy: { type: "OnDelete" },
        template: { spec: { schedulerName: "firebolt.io/no-empty-catalogue" } },
      },
    }),
  );
});

test("a spec that the API server rejects keeps no empty database running, and nothing of the fence stays", async () => {
  const ns = await harness.provisioned();
  await provide(ns, `${ns.name}-one`);
  const first = await eventually(async () => {
    const { status } = await ns.instance();
    expect(status?.builtInPostgres?.claimUID).toBe(await claimUid(ns));
    return status?.builtInPostgres?.claimUID;
  });
  const withResources = (resources: object | null) =>
    ns.patch("FireboltInstance", "lakeside", { spec: { metadata: { builtInPostgres: { resources } } } });
  await withResources({ limits: { "hugepages-2Mi": "200Mi" } });
  await shows(ns, "PostgresEnsureFailed");
  const podSpec = ["spec", "template", "spec"];
  const scheduler = async () =>
    valueAt(await ns.get("StatefulSet", "lakeside-metadata-pg"), [...podSpec, "schedulerName"]);
  await ns.remove("PersistentVolumeClaim", CLAIM);
  await shows(ns, "CatalogueLost");
  await eventually(async () => expect(await scheduler()).toBe("firebolt.io/no-empty-catalogue"));
  await ns.remove("Pod", "lakeside-metadata-pg-0");
  await eventually(async () => expect(await claimUid(ns)).not.toBe(first), { timeoutMs: 150_000 });
  await eventually(async () => expect(await replicas(ns)).toBe(0));
  await eventually(async () => expect(await ns.find("Pod", "lakeside-metadata-pg-0")).toBeUndefined());
  await eventually(async () => expect(await messageOf(ns)).not.toContain("still running"));

  await withResources(null);
  await ns.patch("FireboltInstance", "lakeside", {
    metadata: { annotations: { "firebolt.io/accept-empty-catalogue": `lost-${first}` } },
  });
  await eventually(async () => expect(await replicas(ns)).toBe(1));
  await reaches(ns, "Ready");
  expect(await scheduler()).toBe("default-scheduler");
  const found = await ns.get("StatefulSet", "lakeside-metadata-pg");
  expect(valueAt(found, ["metadata", "annotations", "firebolt.io/lost-claim"])).toBeUndefined();
  expect(valueAt(found, ["spec", "updateStrategy", "type"])).toBe("RollingUpdate");
});

test("a Secret that is deleted shows at once although nothing restarts, and its return heals", async () => {
  const ns = await harness.provisioned();
  const secret = (await ns.get("Secret", SECRET)) as { metadata: { labels: object }; data: object; type: string };
  await eventually(async () => expect(await claimUid(ns)).toBeDefined());
  await ns.remove("Secret", SECRET);
  await shows(ns, "PostgresEnsureFailed");
  expect(await messageOf(ns)).toMatch(/destroys the catalogue.*; next: restore the Secret from a backup.*ALTER ROLE/);
  const { data, type, metadata } = secret;
  const body = { apiVersion: "v1", kind: "Secret", metadata: { name: SECRET, labels: metadata.labels }, type, data };
  await ns.create("Secret", body);
  await reaches(ns, "Ready");
});

test("the command that the condition prints writes a Secret that is gone, and one that lacks a key, with the labels of the operator's own", async () => {
  const ns = await harness.provisioned();
  const made = (await ns.get("Secret", SECRET)) as { metadata: { labels: object } };
  await eventually(async () => expect(await claimUid(ns)).toBeDefined());
  const losses = [() => ns.remove("Secret", SECRET), () => ns.patch("Secret", SECRET, { data: { password: null } })];
  for (const lose of losses) {
    await lose();
    await shows(ns, "PostgresEnsureFailed");
    const command = /kubectl create secret [^;]*/.exec(await messageOf(ns))?.[0] ?? "";
    await inShell(command);
    await reaches(ns, "Ready");
    const written = (await ns.get("Secret", SECRET)) as { metadata: object; data: object };
    expect(written).toMatchObject({
      metadata: { labels: made.metadata.labels },
      data: { password: Buffer.from("NEW").toString("base64") },
    });
    expect(JSON.stringify(written.metadata)).not.toContain("last-applied-configuration");
  }
});

test("a deleted account of the gateway is recreated, and the pods with invalid tokens are replaced", async () => {
  const ns = await harness.provisioned();
  await eventually(async () => expect((await ns.instance()).status?.gatewayAccount).toBeDefined());
  const uid = async () => valueAt(await ns.find("ServiceAccount", "lakeside-gateway"), ["metadata", "uid"]);
  const before = await uid();
  await ns.remove("ServiceAccount", "lakeside-gateway");
  await eventually(async () => {
    const now = await uid();
    expect(now).toBeDefined();
    expect(now).not.toBe(before);
    const deployment = await ns.get("Deployment", "lakeside-gateway");
    const at = ["spec", "template", "metadata", "annotations", "firebolt.io/service-account-uid"];
    expect(valueAt(deployment, at)).toBe(now);
  });
  await eventually(async () => expect(eventsIn(ns, "GatewayRestarted")).toHaveLength(1));
  await eventually(() =>
    expect(eventsIn(ns, "ChildRestored").map(({ note }) => note)).toContain(
      "ServiceAccount lakeside-gateway was deleted and has been created again",
    ),
  );
});

test("a retained volume keeps its password and other owners, although no pass released the Secret before the deletion", async () => {
  const ns = await harness.provisioned();
  const { id } = (await ns.instance()).spec;
  const config = await ns.create("ConfigMap", { metadata: { name: "other" } });
  const other = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: valueAt(config, ["metadata", "uid"]) };
  const owners = valueAt(await ns.get("Secret", SECRET), ["metadata", "ownerReferences"]);
  const ownerReferences = [...(Array.isArray(owners) ? owners : []), other];
  expect(ownerReferences).toHaveLength(2);
  await ns.patch("Secret", SECRET, { metadata: { ownerReferences } });
  // A volume cannot shrink: the instance is rejected.
  const builtInPostgres = { volumeRetention: "Retain", storage: { size: "1Gi" } };
  await ns.patch("FireboltInstance", "lakeside", { spec: { metadata: { builtInPostgres } } });
  await shows(ns, "PostgresEnsureFailed");
  await ns.remove("FireboltInstance", "lakeside");
  await eventually(async () => expect(await ns.find("FireboltInstance", "lakeside")).toBeUndefined());
  expect(await ns.get("Secret", SECRET)).toMatchObject({
    metadata: { ownerReferences: [other], annotations: { "firebolt.io/account-id": id } },
  });
  expect(await claimUid(ns)).toBeDefined();
});
