// Passes over a fake cluster in memory: an instance that is not reconciled, because it failed or is rejected, still
// does not start its database on a volume that is not its own.
import { KubeApiError } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { deleteClaim, passes, postgres, stopPod } from "../../../test/instance/support/claim-fixture.ts";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

async function failed(): Promise<InstanceRun> {
  const run = new InstanceRun();
  await run.settle();
  const conditions = run.status.conditions?.map((condition) =>
    condition.type === "Ready"
      ? { ...condition, status: "False" as const, reason: "EnsureFailed", message: "no" }
      : condition,
  );
  run.world.put("FireboltInstance", {
    ...run.instance,
    status: { ...run.status, phase: "Failed", ...(conditions === undefined ? {} : { conditions }) },
  });
  run.forgetRequests();
  await passes(run);
  expect(run.world.requests).toEqual([]);
  return run;
}

async function rejected(): Promise<InstanceRun> {
  const run = new InstanceRun();
  await run.settle();
  run.world.edit("lakeside", (spec) => {
    spec.gateway.template = { spec: { hostNetwork: true, containers: [] } };
  });
  await passes(run);
  expect(run.condition("Ready")).toBe("False/TemplateRejected");
  return run;
}

describe.each([
  ["failed", failed],
  ["rejected", rejected],
] as const)("an instance that is %s", (how, start) => {
  test("has its database fenced when the claim is being deleted, and stopped when it is replaced", async () => {
    const run = await start();
    const { phase } = run.status;
    deleteClaim(run);
    await passes(run);
    expect(run.condition("MetadataReady")).toBe("False/CatalogueLost");
    expect(run.message("Ready")).toMatch(/is being deleted.*pg_dump/);
    expect(postgres(run)).toMatchObject({ updateStrategy: { type: "OnDelete" } });
    stopPod(run);
    run.restart();
    await passes(run);
    expect(postgres(run)?.replicas).toBe(0);
    expect(run.condition("Ready")).toBe("False/CatalogueLost");
    expect(run.events.filter(({ reason }) => reason === "CatalogueLost")).toHaveLength(3);
    // It is reconciled as little as before.
    expect(run.status.phase).toBe(phase);
    if (how === "failed") expect(run.message("Ready")).toContain("The operator has stopped trying: edit the spec");
    run.world.drop("Deployment", "lakeside-gateway");
    run.forgetRequests();
    await passes(run);
    expect(run.world.inventory()).not.toContain("Deployment lakeside-gateway");
    expect(run.world.requests.filter((request) => /^(?:create|update)/.test(request))).toEqual([]);
  });
});

test("consent to the loss starts a new attempt after Failed, as a reset does", async () => {
  const run = await failed();
  stopPod(run);
  await passes(run);
  expect(run.status.phase).toBe("Failed");
  const { metadata, ...rest } = run.instance;
  const consent = `lost-${run.status.builtInPostgres?.claimUID}`;
  const annotations = { "firebolt.io/accept-empty-catalogue": consent };
  run.world.put("FireboltInstance", { ...rest, metadata: { ...metadata, annotations } });
  await run.settle();
  expect(run.status.phase).toBe("Ready");
  expect(postgres(run)?.replicas).toBe(1);
});

describe("a template that the API server rejects", () => {
  /** Every rendering of the StatefulSet is rejected; the fields that stop it are not part of one. */
  function rejectRenderings(run: InstanceRun): void {
    run.world.intercept = (request) => {
      if (/^(?:update|overwrite) StatefulSet /.test(request))
        throw new KubeApiError("PATCH", 422, { reason: "Invalid", message: "limits: hugepages must equal requests" });
    };
  }

  test.each(["being deleted", "replaced"])("does not keep an empty catalogue running: %s", async (how) => {
    const run = new InstanceRun();
    await run.settle();
    rejectRenderings(run);
    run.world.edit("lakeside", (spec) => {
      spec.metadata.builtInPostgres = { resources: { limits: { "hugepages-2Mi": "200Mi" } } };
    });
    await passes(run);
    if (how === "replaced") stopPod(run);
    else deleteClaim(run);
    await passes(run);
    expect(run.condition("MetadataReady")).toBe("False/CatalogueLost");
    if (how === "replaced") expect(postgres(run)?.replicas).toBe(0);
    else expect(postgres(run)?.template.spec?.schedulerName).toBe("firebolt.io/no-empty-catalogue");
    expect(run.message("MetadataReady")).not.toContain("still running");
  });

  test("where the fence is rejected too, the condition reports what will start and why", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.intercept = (request) => {
      if (/ StatefulSet /.test(request))
        throw new KubeApiError("PATCH", 403, { reason: "Forbidden", message: "denied by policy no-updates" });
    };
    deleteClaim(run);
    await passes(run);
    expect(run.message("MetadataReady")).toMatch(
      /^StatefulSet lakeside-metadata-pg will start PostgreSQL with an EMPTY catalogue once its pod stops; .*denied by policy no-updates.*pg_dump/,
    );
    run.world.intercept = () => undefined;
    await passes(run);
    expect(run.message("MetadataReady")).not.toContain("EMPTY");
  });

  test("where the stop is rejected too, the condition reports what runs and why", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.intercept = (request) => {
      if (/ StatefulSet /.test(request))
        throw new KubeApiError("PATCH", 403, { reason: "Forbidden", message: "denied by policy no-updates" });
    };
    stopPod(run);
    await passes(run);
    expect(postgres(run)?.replicas).toBe(1);
    expect(run.message("MetadataReady")).toMatch(
      /^StatefulSet lakeside-metadata-pg is still running PostgreSQL, possibly on an EMPTY catalogue that takes writes; the API server rejects stopping it: .*denied by policy no-updates/,
    );
    expect(run.message("MetadataReady")).not.toContain("no empty one is started");
    run.world.intercept = () => undefined;
    await passes(run);
    expect(postgres(run)?.replicas).toBe(0);
    expect(run.message("MetadataReady")).not.toContain("still running");
  });
});
