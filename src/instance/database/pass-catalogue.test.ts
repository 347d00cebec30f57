// Passes over a fake cluster in memory: a claim that is deleted or replaced is noticed at every stage, and PostgreSQL
// never starts on an empty one without consent.
import { KubeApiError } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import {
  CLAIM,
  deleteClaim,
  passes,
  postgres,
  stopPod,
  uidOf,
  unlabel,
  warnings,
} from "../../../test/instance/support/claim-fixture.ts";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

async function ready(): Promise<InstanceRun> {
  const run = new InstanceRun();
  await run.settle();
  expect(run.status).toMatchObject({ phase: "Ready", builtInPostgres: { claimUID: uidOf(run) } });
  return run;
}

test("the claim of an existing instance is stored when first observed, with one status write", async () => {
  const run = await ready();
  const { builtInPostgres: _, ...status } = run.status;
  run.world.put("FireboltInstance", { ...run.instance, status });
  run.forgetRequests();
  await run.settle();
  expect(run.world.requests).toEqual(["status lakeside"]);
  expect(run.status.builtInPostgres?.claimUID).toBe(uidOf(run));
});

test("a claim without a volume holds nothing and is not stored", async () => {
  const run = await ready();
  const { builtInPostgres: _, ...status } = run.status;
  run.world.put("FireboltInstance", { ...run.instance, status });
  const claim = run.world.get("PersistentVolumeClaim", CLAIM);
  const { volumeName: __, ...spec } = claim?.spec ?? {};
  run.world.put("PersistentVolumeClaim", { ...claim, spec });
  await run.settle();
  expect(run.status).not.toHaveProperty("builtInPostgres");
  expect(run.status.phase).toBe("Ready");
});

test("an instance that failed before its claim had a volume stores it when first observed, and notices its loss", async () => {
  const run = new InstanceRun();
  const made = run.world.makeClaim.bind(run.world);
  run.world.makeClaim = (name) => {
    made(name);
    const claim = run.world.get("PersistentVolumeClaim", CLAIM);
    const { volumeName: _, ...spec } = claim?.spec ?? {};
    run.world.put("PersistentVolumeClaim", { ...claim, spec });
  };
  run.world.intercept = (request) => {
    if (request.startsWith("create PodDisruptionBudget"))
      throw new KubeApiError("POST", 422, { reason: "Invalid", message: "no" });
  };
  for (let pass = 0; pass < 12; pass++) {
    run.world.report("lakeside-metadata", 1);
    await run.tryPass();
  }
  expect(run.status.phase).toBe("Failed");
  expect(run.status).not.toHaveProperty("builtInPostgres");
  const before = run.status;
  const claim = run.world.get("PersistentVolumeClaim", CLAIM);
  run.world.put("PersistentVolumeClaim", { ...claim, spec: { ...claim?.spec, volumeName: "pv-1" } });
  run.forgetRequests();
  await passes(run);
  expect(run.world.requests).toEqual(["status lakeside"]);
  expect(run.status).toEqual({ ...before, builtInPostgres: { claimUID: uidOf(run) } });
  stopPod(run);
  await passes(run);
  expect(run.condition("MetadataReady")).toBe("False/CatalogueLost");
  expect(postgres(run)?.replicas).toBe(0);
});

test("a claim of an earlier instance that is still being deleted is waited for, and its deletion is no loss", async () => {
  const former = await ready();
  const [secret, claim] = [
    former.world.get("Secret", "lakeside-metadata-postgres-creds"),
    former.world.get("PersistentVolumeClaim", CLAIM),
  ];
  const { ownerReferences: _, ...metadata } = secret?.metadata ?? {};
  const run = new InstanceRun();
  run.world.put("Secret", { ...secret, metadata });
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  run.world.put("PersistentVolumeClaim", { ...claim, metadata: { ...claim?.metadata, deletionTimestamp } });
  await passes(run, 6);
  expect(run.condition("MetadataReady")).toBe("False/PostgresEnsureFailed");
  expect(run.message("Ready")).toContain("of an earlier instance is still being deleted");
  expect(run.world.inventory()).not.toContain("StatefulSet lakeside-metadata-pg");
  run.world.drop("PersistentVolumeClaim", CLAIM);
  await run.settle();
  expect(run.status).toMatchObject({ phase: "Ready", builtInPostgres: { claimUID: uidOf(run) } });
  expect(warnings(run, "CatalogueLost")).toEqual([]);
});

describe("a claim without the label", () => {
  const existing = () => ({
    metadata: { name: CLAIM, uid: "kept" },
    spec: { volumeName: "pv-0", resources: { requests: { storage: "10Gi" } }, storageClassName: "standard" },
  });

  test("that existed before the instance is the catalogue from the start, and its loss starts no empty one", async () => {
    const run = new InstanceRun();
    run.world.put("PersistentVolumeClaim", existing());
    await run.settle();
    expect(run.status).toMatchObject({ phase: "Ready", builtInPostgres: { claimUID: "kept" } });
    stopPod(run);
    await passes(run);
    expect(run.condition("MetadataReady")).toBe("False/CatalogueLost");
    expect(postgres(run)?.replicas).toBe(0);
  });

  test("is found beside a StatefulSet whose instance has no claim in its status, and grows", async () => {
    const run = await ready();
    const uid = uidOf(run);
    const { builtInPostgres: _, ...status } = run.status;
    run.world.put("FireboltInstance", { ...run.instance, status });
    unlabel(run);
    run.world.edit("lakeside", (spec) => {
      spec.metadata.builtInPostgres = { storage: { size: "20Gi" } };
    });
    run.forgetRequests();
    await run.settle();
    expect(run.status.builtInPostgres?.claimUID).toBe(uid);
    expect(run.world.requests.filter((request) => /^(delete|grow)/.test(request))).toEqual([
      `grow PersistentVolumeClaim ${CLAIM}`,
    ]);
  });

  test("a missing one is read once per minute beside a StatefulSet, and before every creation of one", async () => {
    const run = await ready();
    const { builtInPostgres: _, ...status } = run.status;
    run.world.put("FireboltInstance", { ...run.instance, status });
    run.world.drop("PersistentVolumeClaim", CLAIM);
    run.forgetRequests();
    for (let pass = 0; pass < 60; pass++) await run.tryPass();
    expect(run.world.requests).toEqual([`get PersistentVolumeClaim ${CLAIM}`]);
  });
});

describe("a claim that is deleted while its pod runs", () => {
  test("is reported with what can still be saved; the running pod continues, and no other starts", async () => {
    const run = await ready();
    deleteClaim(run);
    await passes(run);
    expect(run.condition("MetadataReady")).toBe("False/CatalogueLost");
    expect(run.condition("Ready")).toBe("False/CatalogueLost");
    expect(run.message("Ready")).toMatch(/is being deleted.*kubectl exec -n ns lakeside-metadata-pg-0 -- pg_dump/);
    expect(run.message("Ready")).toMatch(/kubectl patch pv pv-claim-\d+ .*Retain/);
    // Engines keep their endpoint: the service works.
    expect(run.status).toMatchObject({ phase: "Degraded", metadataReady: true });
    expect(run.status.metadataEndpoint).toBeDefined();
    expect(warnings(run, "CatalogueLost")).toHaveLength(1);
    expect(postgres(run)).toMatchObject({
      replicas: 1,
      updateStrategy: { type: "OnDelete" },
      template: { spec: { schedulerName: "firebolt.io/no-empty-catalogue" } },
    });
  });

  test("and then its pod: PostgreSQL is stopped, by any process that takes over, with events", async () => {
    const run = await ready();
    const before = uidOf(run);
    deleteClaim(run);
    await passes(run);
    stopPod(run);
    run.restart();
    await passes(run);
    expect(postgres(run)?.replicas).toBe(0);
    expect(run.message("Ready")).toContain(`its uid is ${uidOf(run)}, and the catalogue was in ${before}`);
    expect(run.status).toMatchObject({ phase: "Degraded", metadataReady: false });
    expect(run.status).not.toHaveProperty("metadataEndpoint");
    expect(run.status.builtInPostgres?.claimUID).toBe(before);
    const told = warnings(run, "CatalogueLost").map(({ note }) => note);
    expect(told).toHaveLength(3);
    expect(told.map((note) => note.includes("still running PostgreSQL"))).toEqual([false, true, false]);
  });
});
