// Passes over a world in memory: an instance that the operator does not keep up, because it failed or is refused, still does not start its
// database on a volume that is not its own.
import { describe, expect, test } from "vitest";
import { InstanceRun } from "../../../test/support/instance-passes.ts";

const CLAIM = "data-lakeside-metadata-pg-0";
const POSTGRES = "lakeside-metadata-pg";

const postgres = (run: InstanceRun) => run.world.get("StatefulSet", POSTGRES)?.spec;
const passes = async (run: InstanceRun, count = 3) => {
  for (let pass = 0; pass < count; pass++) await run.tryPass();
};

const HINT =
  " The operator has stopped trying: edit the spec, or set the annotation firebolt.io/reset-failed to any value.";

async function failed(): Promise<InstanceRun> {
  const run = new InstanceRun();
  await run.settle();
  const conditions = run.status.conditions?.map((condition) =>
    condition.type === "Ready"
      ? { ...condition, status: "False" as const, reason: "EnsureFailed", message: `no.${HINT}` }
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

const lose = (run: InstanceRun) => {
  run.world.drop("PersistentVolumeClaim", CLAIM);
  run.world.makeClaim(POSTGRES);
};

function deleteClaim(run: InstanceRun): void {
  const claim = run.world.get("PersistentVolumeClaim", CLAIM);
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  run.world.put("PersistentVolumeClaim", { ...claim, metadata: { ...claim?.metadata, deletionTimestamp } });
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
    lose(run);
    run.restart();
    await passes(run);
    expect(postgres(run)?.replicas).toBe(0);
    expect(run.condition("Ready")).toBe("False/CatalogueLost");
    expect(run.events.filter(({ reason }) => reason === "CatalogueLost")).toHaveLength(2);
    // It is kept up as little as before.
    expect(run.status.phase).toBe(phase);
    if (how === "failed") expect(run.message("Ready").endsWith(HINT)).toBe(true);
    run.world.drop("Deployment", "lakeside-gateway");
    run.forgetRequests();
    await passes(run);
    expect(run.world.inventory()).not.toContain("Deployment lakeside-gateway");
    expect(run.world.requests.filter((request) => /^(?:create|update)/.test(request))).toEqual([]);
  });
});

test("consent to the loss leaves Failed as a reset does", async () => {
  const run = await failed();
  lose(run);
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
