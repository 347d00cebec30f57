// Passes over a fake cluster in memory: an instance that engines use is not deleted until they are.
import { KubeApiError, KubeTimeoutError } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { InstanceRun, KEY } from "../../../test/instance/support/fake-passes.ts";

async function dying(engines: readonly string[], metadata: object = {}): Promise<InstanceRun> {
  const run = new InstanceRun();
  await run.settle();
  for (const name of engines) run.world.enginesByName.set(name, KEY.name);
  run.world.enginesByName.set("elsewhere", "another");
  const { metadata: own, ...rest } = run.instance;
  run.world.put("FireboltInstance", {
    ...rest,
    metadata: { ...own, deletionTimestamp: "2026-01-01T00:00:00Z", ...metadata },
  });
  run.events.length = 0;
  run.forgetRequests();
  return run;
}

const isGone = (run: InstanceRun) => run.world.get("FireboltInstance", KEY.name) === undefined;

test("deletion-held-by-engines: nothing is deleted while engines refer to it; the condition and one event name five of them and both next steps", async () => {
  const run = await dying(["g", "f", "e", "d", "c", "b", "a"]);
  const before = run.world.inventory();
  for (let pass = 0; pass < 5; pass++) expect(await run.pass()).toEqual({ afterMs: 10_000 });
  expect(run.world.inventory()).toEqual(before);
  expect(run.condition("Ready")).toBe("False/DeletionBlocked");
  expect(run.message("Ready")).toMatch(/7 engines use it: a, b, c, d, e and 2 more;/);
  expect(run.message("Ready")).toContain("kubectl delete fireboltengine a b c d e -n ns");
  expect(run.message("Ready")).toContain("--overwrite firebolt.io/delete-despite-engines=true");
  expect(run.message("Ready")).toContain("the catalogue of a built-in PostgreSQL is deleted with the instance");
  expect(run.status).toMatchObject({ phase: "Degraded", metadataReady: true, gatewayReady: true });
  expect(run.events.filter(({ reason }) => reason === "DeletionBlocked")).toMatchObject([{ type: "Warning" }]);
  // Engines in the cache are not read from the API server.
  expect(run.world.requests).toEqual(["status lakeside"]);
});

test("it is reconciled meanwhile: a deleted gateway is created again", async () => {
  const run = await dying(["a"]);
  run.world.drop("Deployment", "lakeside-gateway");
  await run.pass();
  expect(run.world.inventory()).toContain("Deployment lakeside-gateway");
});

test("it is deleted as soon as its engines are, without any other change", async () => {
  const run = await dying(["a"]);
  await run.pass();
  run.world.enginesByName.delete("a");
  await run.pass();
  expect(isGone(run)).toBe(true);
  expect(run.world.inventory()).toEqual([]);
});

test("while it is held the catalogue can still be retained", async () => {
  const run = await dying(["a"]);
  await run.pass();
  run.world.edit("lakeside", (spec) => {
    spec.metadata.builtInPostgres = { ...spec.metadata.builtInPostgres, volumeRetention: "Retain" };
  });
  await run.pass();
  run.world.enginesByName.delete("a");
  await run.pass();
  expect(isGone(run)).toBe(true);
  expect(run.world.inventory()).toEqual([
    "PersistentVolumeClaim data-lakeside-metadata-pg-0",
    "Secret lakeside-metadata-postgres-creds",
  ]);
});

test("engines that a watch selector excludes hold it as well", async () => {
  const run = await dying(["a"]);
  run.world.unseen.add("engine a");
  expect(await run.pass()).toEqual({ afterMs: 10_000 });
  expect(run.world.requests).toContain("list FireboltEngine");
  expect(run.condition("Ready")).toBe("False/DeletionBlocked");
});

test.each([
  ["the annotation", { annotations: { "firebolt.io/delete-despite-engines": "true" } }],
  ["the finalizer orphan", { finalizers: ["orphan", "compute.firebolt.io/instance-cleanup"] }],
])("%s is not held", async (_, metadata) => {
  const run = await dying(["a"], metadata);
  const finalizer = run.instance.metadata?.finalizers ?? [];
  await run.pass();
  const left = run.world.get("FireboltInstance", KEY.name)?.metadata?.finalizers ?? [];
  expect(left.length).toBeLessThan(finalizer.length);
});

test("an annotation with another value holds", async () => {
  const run = await dying(["a"], { annotations: { "firebolt.io/delete-despite-engines": "yes" } });
  await run.pass();
  expect(isGone(run)).toBe(false);
  expect(run.message("Ready")).toMatch(/^the annotation .*delete-despite-engines is ignored: "yes" is not "true"\. /);
});

test.each(["foregroundDeletion", "Failed"])("%s: held, and nothing is written but the status", async (how) => {
  const run = await dying(["a"]);
  const { metadata, status, ...rest } = run.instance;
  const finalizers = [...(metadata?.finalizers ?? []), ...(how === "Failed" ? [] : [how])];
  const phase = how === "Failed" ? { phase: "Failed" as const } : {};
  run.world.put("FireboltInstance", {
    ...rest,
    metadata: { ...metadata, finalizers },
    status: { ...status, ...phase },
  });
  run.world.drop("Deployment", "lakeside-gateway");
  run.forgetRequests();
  for (let pass = 0; pass < 3; pass++) await run.pass();
  expect(run.world.requests).toEqual(["status lakeside"]);
  expect(run.condition("Ready")).toBe("False/DeletionBlocked");
});

describe("engines that cannot be listed", () => {
  const answer = (status: number) => new KubeApiError("GET /engines", status, { reason: "Refused", message: "no" });

  test.each([
    ["not allowed", answer(403), 1],
    ["no answer", new KubeTimeoutError("GET /engines: no response within 30 s"), 3],
  ])(
    "%s: nothing is deleted, and condition, event and metric show the cause and the next step",
    async (_, error, passes) => {
      const run = await dying([]);
      const before = run.world.inventory();
      run.world.intercept = (request) => {
        if (request === "list FireboltEngine") throw error;
      };
      for (let pass = 0; pass < passes; pass++) expect(await run.tryPass()).toBeInstanceOf(Error);
      expect(run.condition("Ready")).toBe("False/ReconcileFailed");
      expect(run.message("Ready")).toContain(error.message);
      expect(run.message("Ready")).toContain("--overwrite firebolt.io/delete-despite-engines=true");
      for (let pass = 0; pass < 3; pass++) await run.tryPass();
      expect(run.events.filter(({ reason }) => reason === "ReconcileFailed")).toHaveLength(1);
      expect(run.passes.at(-1)).toMatchObject({ succeeded: false, status: { phase: "Degraded" } });
      expect(run.world.inventory()).toEqual(before);
      run.world.intercept = () => undefined;
      await run.pass();
      expect(isGone(run)).toBe(true);
    },
  );
});

test("without the CRD of engines there are none: the deletion continues", async () => {
  const run = await dying([]);
  run.world.intercept = (request) => {
    if (request === "list FireboltEngine")
      throw new KubeApiError("GET /engines", 404, { message: "404 page not found" });
  };
  await run.pass();
  expect(isGone(run)).toBe(true);
  expect(run.world.inventory()).toEqual([]);
});

test("one that has no id yet gets it before anything is created: no configuration without an account", async () => {
  const run = new InstanceRun();
  await run.pass();
  run.world.enginesByName.set("a", KEY.name);
  const { metadata, ...rest } = run.instance;
  run.world.put("FireboltInstance", {
    ...rest,
    metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  });
  await run.settle();
  const config = JSON.stringify(run.world.get("ConfigMap", "lakeside-metadata-config")?.data);
  expect(run.instance.spec.id).toMatch(/^[0-9A-Z]{26}$/);
  expect(config).toContain(run.instance.spec.id);
});
