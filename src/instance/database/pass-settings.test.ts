// Passes over a fake cluster in memory: the settings of the built-in PostgreSQL. Without them nothing differs; its
// volume grows and is never swapped; what is retained survives the instance, and one of the same name takes it up with
// the same password, catalogue and id.
import { describe, expect, test } from "vitest";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";

type Settings = NonNullable<FireboltInstance["spec"]["metadata"]["builtInPostgres"]>;

const CLAIM = "data-lakeside-metadata-pg-0";
const SECRET = "lakeside-metadata-postgres-creds";

const started = async (builtInPostgres: Settings) => {
  const run = new InstanceRun({ metadata: { engineRegistration: false, builtInPostgres } });
  await run.settle();
  return run;
};
const claimOf = (run: InstanceRun) => run.world.get("PersistentVolumeClaim", CLAIM);
const setOf = (run: InstanceRun) => run.world.get("StatefulSet", "lakeside-metadata-pg")?.spec;
const change = (run: InstanceRun, settings: Settings) =>
  run.world.edit("lakeside", (spec) => {
    spec.metadata.builtInPostgres = settings;
  });

test("resources, pull secrets, size and class reach the pod and the claim", async () => {
  const run = await started({
    resources: { requests: { cpu: "1" }, limits: { memory: "2Gi" } },
    storage: { size: "50Gi", storageClassName: "fast" },
    imagePullSecrets: [{ name: "registry" }],
  });
  expect(setOf(run)?.template.spec).toMatchObject({
    imagePullSecrets: [{ name: "registry" }],
    containers: [{ resources: { requests: { cpu: "1" }, limits: { memory: "2Gi" } } }],
  });
  expect(claimOf(run)?.spec).toMatchObject({ storageClassName: "fast", resources: { requests: { storage: "50Gi" } } });
});

test.each([
  [
    "a class",
    { storage: { storageClassName: "Fast Disk" } },
    /storageClassName: Invalid value: "Fast Disk": is not a valid name/,
  ],
  ["a resource", { resources: { requests: { memroy: "1Gi" } } }, /requests\[memroy\]: .*use cpu, memory/],
])(
  "%s that no cluster can have is rejected before any object is created, with webhooks off as well",
  async (_, settings, message) => {
    const run = await started(settings);
    expect(run.condition("MetadataReady")).toBe("False/PostgresEnsureFailed");
    expect(run.message("MetadataReady")).toMatch(message);
    expect(run.world.inventory()).toEqual(["FireboltInstance lakeside"]);
    change(run, {});
    await run.settle();
    expect(run.status.phase).toBe("Ready");
  },
);

describe("the volume", () => {
  test("grows in place; the StatefulSet, whose claim template is fixed, is not written", async () => {
    const run = await started({});
    const uid = claimOf(run)?.metadata?.uid;
    change(run, { storage: { size: "20Gi" } });
    run.forgetRequests();
    await run.settle();
    expect(claimOf(run)).toMatchObject({ metadata: { uid }, spec: { resources: { requests: { storage: "20Gi" } } } });
    expect(run.world.requests).not.toContain("update StatefulSet lakeside-metadata-pg");
    expect(run.status.phase).toBe("Ready");
  });

  test.each([
    ["shrink", { storage: { size: "5Gi" } }, /storage.size: Invalid value: "5Gi": a volume cannot shrink: .* has 10Gi/],
    [
      "change its class",
      { storage: { storageClassName: "fast" } },
      /storageClassName: .*cannot change: .*"standard".*backup/,
    ],
  ])("does not %s: the condition reports it, and everything keeps running", async (_, settings, message) => {
    const run = await started({});
    change(run, settings);
    await run.settle();
    expect(run.condition("MetadataReady")).toBe("False/PostgresEnsureFailed");
    expect(run.message("MetadataReady")).toMatch(message);
    expect(run.status.metadataEndpoint).toBeDefined();
    change(run, {});
    await run.settle();
    expect(run.status.phase).toBe("Ready");
  });

  test("that does not exist yet is created as the spec requires now", async () => {
    const run = await started({ storage: { storageClassName: "typo" } });
    const { builtInPostgres: _, ...status } = run.status;
    run.world.put("FireboltInstance", { ...run.instance, status });
    run.world.drop("PersistentVolumeClaim", CLAIM);
    change(run, { storage: { storageClassName: "fast" } });
    await run.settle();
    expect(claimOf(run)?.spec?.storageClassName).toBe("fast");
  });
});

describe("volumeRetention: Retain", () => {
  const passwordOf = (run: InstanceRun) => run.world.get("Secret", SECRET)?.data?.["password"];
  const remove = async (run: InstanceRun) => {
    const { metadata, ...rest } = run.instance;
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    run.world.put("FireboltInstance", { ...rest, metadata: { ...metadata, deletionTimestamp } });
    await run.pass();
  };
  const recreate = (run: InstanceRun, spec: Partial<FireboltInstance["spec"]> = {}) =>
    run.world.put("FireboltInstance", {
      metadata: { name: "lakeside", uid: "uid-2" },
      spec: { metadataNG: false, metadata: { engineRegistration: false }, gateway: { metricsPort: 9090 }, ...spec },
    });

  test.each(["from the start", "enabled later"])("%s: claim and Secret survive without an owner", async (when) => {
    const run = await started(when === "from the start" ? { volumeRetention: "Retain" } : {});
    change(run, { volumeRetention: "Retain" });
    await run.settle();
    const [claim, password, { id }] = [claimOf(run)?.metadata?.uid, passwordOf(run), run.instance.spec];
    expect(run.world.get("Secret", SECRET)?.metadata).not.toHaveProperty("ownerReferences");
    await remove(run);
    expect(run.world.inventory()).toEqual([`PersistentVolumeClaim ${CLAIM}`, `Secret ${SECRET}`]);

    recreate(run);
    await run.settle();
    expect(run.status).toMatchObject({ phase: "Ready", builtInPostgres: { claimUID: claim } });
    expect(passwordOf(run)).toBe(password);
    expect(run.instance.spec.id).toBe(id);
    // It is deleted with an instance that does not retain it.
    await remove(run);
    expect(run.world.inventory()).toEqual([]);
  });

  test("an instance with another id does not get the catalogue", async () => {
    const run = await started({ volumeRetention: "Retain" });
    const { id } = run.instance.spec;
    await remove(run);
    recreate(run, { id: "other" });
    for (let pass = 0; pass < 4; pass++) await run.tryPass();
    expect(run.message("Ready")).toMatch(new RegExp(`retained for account ${id}, and spec.id is other`));
    expect(run.world.inventory()).not.toContain("StatefulSet lakeside-metadata-pg");
  });

  test("an empty account id, as older operators could store it, is no other account", async () => {
    const run = await started({ volumeRetention: "Retain" });
    const secret = run.world.get("Secret", SECRET);
    const annotations = { "firebolt.io/account-id": "" };
    run.world.put("Secret", { ...secret, metadata: { ...secret?.metadata, annotations } });
    await run.settle();
    expect(run.status.phase).toBe("Ready");
    expect(run.world.get("Secret", SECRET)?.metadata?.annotations).toEqual({
      "firebolt.io/account-id": run.instance.spec.id,
    });
  });

  test("unset, and Delete: everything is deleted with the instance", async () => {
    const run = await started({ volumeRetention: "Delete" });
    await remove(run);
    expect(run.world.inventory()).toEqual([]);
  });
});
