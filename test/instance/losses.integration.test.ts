// What an instance can lose, on a real control plane: the claim of its database, the Secret with its password, the account of its gateway. Each
// shows at once, with an event, and heals when it is mended. What it is to retain it does not lose, however early it is deleted.
import { dirname } from "node:path";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resolveAssets } from "../../dev/assets/resolver.ts";
import { runProgram } from "../../dev/assets/run-program.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import type { Room } from "./support/instance-cluster.ts";
import { conditionOf, type InstanceLab, openInstanceLab, reaches } from "./support/instance-harness.ts";

let lab: InstanceLab;
beforeAll(async () => {
  lab = await openInstanceLab();
});
afterAll(() => lab?.[Symbol.asyncDispose]());

const CLAIM = "data-lakeside-metadata-pg-0";
const SECRET = "lakeside-metadata-postgres-creds";

const eventsIn = (room: Room, reason: string) =>
  lab.operator.events.filter((event) => event.reason === reason && event.regarding.namespace === room.name);
const messageOf = async (room: Room) =>
  (await room.instance()).status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
const shows = (room: Room, reason: string) =>
  eventually(async () => expect(conditionOf(await room.instance(), "Ready")).toBe(`False/${reason}`));

interface StatefulSetView {
  readonly metadata: { readonly generation: number };
  readonly status: object;
}

/** As a person would run it, with the real kubectl. */
async function inShell(command: string): Promise<void> {
  const kubectl = (await resolveAssets(["kubectl"])).get("kubectl") ?? "";
  const env = { PATH: `${dirname(kubectl)}:${process.env["PATH"]}`, KUBECONFIG: lab.cluster.adminKubeconfig };
  await runProgram({ program: "/bin/sh", args: ["-euc", command], env, timeoutMs: 150_000 });
}

/** What a provisioner would do for the claim. */
async function provide(room: Room, volume: string): Promise<void> {
  const spec = {
    capacity: { storage: "10Gi" },
    accessModes: ["ReadWriteOnce"],
    claimRef: { namespace: room.name, name: CLAIM },
    hostPath: { path: "/tmp/none" },
  };
  const body = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: volume }, spec };
  await lab.cluster.api.expect({ method: "POST", path: "/api/v1/persistentvolumes", body });
}

const claimUid = async (room: Room) => valueAt(await room.find("PersistentVolumeClaim", CLAIM), ["metadata", "uid"]);
const replicas = async (room: Room) =>
  valueAt(await room.get("StatefulSet", "lakeside-metadata-pg"), ["spec", "replicas"]);

test("a claim that is deleted, and then its pod: no other database starts until its claim is accepted", async () => {
  const room = await lab.provisioned();
  await provide(room, `${room.name}-one`);
  const first = await eventually(async () => {
    const { status } = await room.instance();
    expect(status?.builtInPostgres?.claimUID).toBe(await claimUid(room));
    return status?.builtInPostgres?.claimUID;
  });
  await room.remove("PersistentVolumeClaim", CLAIM);
  await shows(room, "CatalogueLost");
  expect(await messageOf(room)).toMatch(/is being deleted.*pg_dump.*kubectl patch pv/);
  await eventually(async () =>
    expect(
      valueAt(await room.get("StatefulSet", "lakeside-metadata-pg"), ["spec", "template", "spec", "schedulerName"]),
    ).toBe("firebolt.io/no-empty-catalogue"),
  );
  expect(await claimUid(room)).toBe(first);

  await room.remove("Pod", "lakeside-metadata-pg-0");
  await eventually(async () => expect(await claimUid(room)).not.toBe(first), { timeoutMs: 150_000 });
  await eventually(async () => expect(await replicas(room)).toBe(0));
  await eventually(async () => expect(await messageOf(room)).toMatch(/was (deleted|replaced)/));
  await eventually(async () => expect(await room.find("Pod", "lakeside-metadata-pg-0")).toBeUndefined());
  await eventually(() => expect(eventsIn(room, "CatalogueLost").length).toBeGreaterThanOrEqual(2));

  const consent = (value: string) =>
    room.patch("FireboltInstance", "lakeside", {
      metadata: { annotations: { "firebolt.io/accept-empty-catalogue": value } },
    });
  await consent("true");
  await eventually(async () => expect(await messageOf(room)).toMatch(/is ignored: "true" does not name this loss/));
  expect(await replicas(room)).toBe(0);
  await consent(`lost-${first}`);
  await eventually(async () => expect(await replicas(room)).toBe(1));
  await reaches(room, "Ready");
  // A claim without a volume holds nothing: what was lost is given up, and the new one is the catalogue once it has one.
  expect((await room.instance()).status?.builtInPostgres).toBeUndefined();

  // Lost once more, with the consent still in place. The StatefulSet has the API server's defaults by now, which do not go with the strategy of a fence.
  await provide(room, `${room.name}-two`);
  await eventually(async () => {
    const { status } = await room.instance();
    expect(status?.builtInPostgres?.claimUID).toBe(await claimUid(room));
  });
  await eventually(async () => {
    const { metadata, status } = (await room.get("StatefulSet", "lakeside-metadata-pg")) as StatefulSetView;
    expect(status).toMatchObject({ observedGeneration: metadata.generation, readyReplicas: 1, updatedReplicas: 1 });
    expect(valueAt(await room.find("PersistentVolumeClaim", CLAIM), ["status", "phase"])).toBe("Bound");
  });
  await room.remove("PersistentVolumeClaim", CLAIM);
  await shows(room, "CatalogueLost");
  await eventually(async () =>
    expect(await room.get("StatefulSet", "lakeside-metadata-pg")).toMatchObject({
      spec: {
        updateStrategy: { type: "OnDelete" },
        template: { spec: { schedulerName: "firebolt.io/no-empty-catalogue" } },
      },
    }),
  );
});

test("a spec that the API server rejects keeps no empty database running, and nothing of the fence stays", async () => {
  const room = await lab.provisioned();
  await provide(room, `${room.name}-one`);
  const first = await eventually(async () => {
    const { status } = await room.instance();
    expect(status?.builtInPostgres?.claimUID).toBe(await claimUid(room));
    return status?.builtInPostgres?.claimUID;
  });
  const withResources = (resources: object | null) =>
    room.patch("FireboltInstance", "lakeside", { spec: { metadata: { builtInPostgres: { resources } } } });
  await withResources({ limits: { "hugepages-2Mi": "200Mi" } });
  await shows(room, "PostgresEnsureFailed");
  const podSpec = ["spec", "template", "spec"];
  const scheduler = async () =>
    valueAt(await room.get("StatefulSet", "lakeside-metadata-pg"), [...podSpec, "schedulerName"]);
  await room.remove("PersistentVolumeClaim", CLAIM);
  await shows(room, "CatalogueLost");
  await eventually(async () => expect(await scheduler()).toBe("firebolt.io/no-empty-catalogue"));
  await room.remove("Pod", "lakeside-metadata-pg-0");
  await eventually(async () => expect(await claimUid(room)).not.toBe(first), { timeoutMs: 150_000 });
  await eventually(async () => expect(await replicas(room)).toBe(0));
  await eventually(async () => expect(await room.find("Pod", "lakeside-metadata-pg-0")).toBeUndefined());
  await eventually(async () => expect(await messageOf(room)).not.toContain("still running"));

  await withResources(null);
  await room.patch("FireboltInstance", "lakeside", {
    metadata: { annotations: { "firebolt.io/accept-empty-catalogue": `lost-${first}` } },
  });
  await eventually(async () => expect(await replicas(room)).toBe(1));
  await reaches(room, "Ready");
  expect(await scheduler()).toBe("default-scheduler");
  const found = await room.get("StatefulSet", "lakeside-metadata-pg");
  expect(valueAt(found, ["metadata", "annotations", "firebolt.io/lost-claim"])).toBeUndefined();
  expect(valueAt(found, ["spec", "updateStrategy", "type"])).toBe("RollingUpdate");
});

test("a Secret that is deleted shows at once although nothing restarts, and its return heals", async () => {
  const room = await lab.provisioned();
  const secret = (await room.get("Secret", SECRET)) as { metadata: { labels: object }; data: object; type: string };
  await eventually(async () => expect(await claimUid(room)).toBeDefined());
  await room.remove("Secret", SECRET);
  await shows(room, "PostgresEnsureFailed");
  expect(await messageOf(room)).toMatch(/destroys the catalogue.*; next: restore the Secret from a backup.*ALTER ROLE/);
  const { data, type, metadata } = secret;
  const body = { apiVersion: "v1", kind: "Secret", metadata: { name: SECRET, labels: metadata.labels }, type, data };
  await room.create("Secret", body);
  await reaches(room, "Ready");
});

test("the command that the condition prints writes a Secret that is gone, and one that lacks a key, with the labels of the operator's own", async () => {
  const room = await lab.provisioned();
  const made = (await room.get("Secret", SECRET)) as { metadata: { labels: object } };
  await eventually(async () => expect(await claimUid(room)).toBeDefined());
  const losses = [
    () => room.remove("Secret", SECRET),
    () => room.patch("Secret", SECRET, { data: { password: null } }),
  ];
  for (const lose of losses) {
    await lose();
    await shows(room, "PostgresEnsureFailed");
    const command = /kubectl create secret [^;]*/.exec(await messageOf(room))?.[0] ?? "";
    await inShell(command);
    await reaches(room, "Ready");
    const written = (await room.get("Secret", SECRET)) as { metadata: object; data: object };
    expect(written).toMatchObject({
      metadata: { labels: made.metadata.labels },
      data: { password: Buffer.from("NEW").toString("base64") },
    });
    expect(JSON.stringify(written.metadata)).not.toContain("last-applied-configuration");
  }
});

test("an account of the gateway that is deleted is made anew, and the pods whose tokens are dead are replaced", async () => {
  const room = await lab.provisioned();
  await eventually(async () => expect((await room.instance()).status?.gatewayAccount).toBeDefined());
  const uid = async () => valueAt(await room.find("ServiceAccount", "lakeside-gateway"), ["metadata", "uid"]);
  const before = await uid();
  await room.remove("ServiceAccount", "lakeside-gateway");
  await eventually(async () => {
    const now = await uid();
    expect(now).toBeDefined();
    expect(now).not.toBe(before);
    const deployment = await room.get("Deployment", "lakeside-gateway");
    const at = ["spec", "template", "metadata", "annotations", "firebolt.io/service-account-uid"];
    expect(valueAt(deployment, at)).toBe(now);
  });
  await eventually(async () => expect(eventsIn(room, "GatewayRestarted")).toHaveLength(1));
  await eventually(() =>
    expect(eventsIn(room, "ChildRestored").map(({ note }) => note)).toContain(
      "ServiceAccount lakeside-gateway was deleted and has been created again",
    ),
  );
});

test("a retained volume keeps its password and other owners, although no pass released the Secret before the deletion", async () => {
  const room = await lab.provisioned();
  const { id } = (await room.instance()).spec;
  const config = await room.create("ConfigMap", { metadata: { name: "other" } });
  const other = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: valueAt(config, ["metadata", "uid"]) };
  const owners = valueAt(await room.get("Secret", SECRET), ["metadata", "ownerReferences"]);
  const ownerReferences = [...(Array.isArray(owners) ? owners : []), other];
  expect(ownerReferences).toHaveLength(2);
  await room.patch("Secret", SECRET, { metadata: { ownerReferences } });
  // A volume cannot shrink: the instance is refused as it is.
  const builtInPostgres = { volumeRetention: "Retain", storage: { size: "1Gi" } };
  await room.patch("FireboltInstance", "lakeside", { spec: { metadata: { builtInPostgres } } });
  await shows(room, "PostgresEnsureFailed");
  await room.remove("FireboltInstance", "lakeside");
  await eventually(async () => expect(await room.find("FireboltInstance", "lakeside")).toBeUndefined());
  expect(await room.get("Secret", SECRET)).toMatchObject({
    metadata: { ownerReferences: [other], annotations: { "firebolt.io/account-id": id } },
  });
  expect(await claimUid(room)).toBeDefined();
});
