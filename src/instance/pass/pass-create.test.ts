// Passes over a fake cluster in memory: objects are created where there are none and never adopted, also when the cache
// lags behind, an object lost its label, or the object of a name is replaced between two requests.
import { describe, expect, test } from "vitest";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";
import type { Kind } from "../../../test/instance/support/instance-cluster.ts";

type ChildKind = Exclude<Kind, "FireboltInstance" | "FireboltEngine" | "ReplicaSet" | "Pod">;
const CHILDREN: readonly (readonly [ChildKind, string])[] = [
  ["StatefulSet", "lakeside-metadata-pg"],
  ["Service", "lakeside-metadata-pg"],
  ["ConfigMap", "lakeside-metadata-config"],
  ["Deployment", "lakeside-metadata"],
  ["Service", "lakeside-metadata"],
  ["ServiceAccount", "lakeside-gateway"],
  ["Role", "lakeside-gateway"],
  ["RoleBinding", "lakeside-gateway"],
  ["ConfigMap", "lakeside-gateway-config"],
  ["Deployment", "lakeside-gateway"],
  ["Service", "lakeside-gateway"],
  ["PodDisruptionBudget", "lakeside-gateway"],
];
const SERVICE = "lakeside-gateway";

async function settled(): Promise<InstanceRun> {
  const run = new InstanceRun();
  await run.settle();
  run.forgetRequests();
  return run;
}

test("a first provisioning costs one request per object and no read beforehand", async () => {
  const run = new InstanceRun();
  await run.settle();
  for (const [kind, name] of CHILDREN)
    expect(run.world.requests.filter((request) => request.endsWith(` ${kind} ${name}`))).toEqual(
      // The configuration is read once for the account id.
      name === "lakeside-metadata-config"
        ? [`get ${kind} ${name}`, `create ${kind} ${name}`]
        : [`create ${kind} ${name}`],
    );
});

describe("an object that exists is not in the cache", () => {
  test.each(CHILDREN)("%s %s of the instance's own: found by its owner, and updated", async (kind, name) => {
    const run = await settled();
    const before = run.world.get(kind, name);
    run.world.unseen.add(`${kind} ${name}`);
    await run.pass();
    // Nothing else depends on what the cache shows of an object that is not a Deployment.
    expect(run.world.requests.slice(0, 3)).toEqual([
      `create ${kind} ${name}`,
      `get ${kind} ${name}`,
      `update ${kind} ${name}`,
    ]);
    run.world.unseen.clear();
    await run.settle();
    expect(run.status.phase).toBe("Ready");
    expect(run.world.get(kind, name)?.metadata?.uid).toBe(before?.metadata?.uid);
  });

  test.each(CHILDREN)("%s %s of another owner: unchanged, and named", async (kind, name) => {
    const run = new InstanceRun({ id: "x" });
    const theirs = run.world.put(kind, { metadata: { name, labels: { app: "theirs" } } });
    for (let pass = 0; pass < 8; pass++) {
      if (name !== "lakeside-metadata") run.world.report("lakeside-metadata", 1);
      await run.tryPass();
    }
    expect(await run.tryPass()).toEqual({ afterMs: 10_000 });
    expect(run.world.get(kind, name)).toEqual(theirs);
    expect(run.message("Ready")).toContain(`${kind} ${name}: exists and has no owner`);
    expect(run.message("Ready")).toContain("delete or rename it, or give the instance another name");
    expect(run.status.phase).toBe("Provisioning");
    const { metadata, ...rest } = run.instance;
    run.world.put("FireboltInstance", {
      ...rest,
      metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
    });
    await run.pass();
    expect(run.world.inventory()).toEqual([`${kind} ${name}`]);
  });
});

describe("the object of a name is replaced", () => {
  const other = { apiVersion: "v1", kind: "Gadget", name: "g", uid: "other", controller: true };

  test("an object that appears between the read and the create is decided by its owner", async () => {
    const run = await settled();
    run.world.drop("Service", SERVICE);
    run.world.intercept = (request) => {
      if (request === `create Service ${SERVICE}`)
        run.world.put("Service", { metadata: { name: SERVICE, ownerReferences: [other] } });
    };
    expect(await run.tryPass()).toEqual({ afterMs: 10_000 });
    expect(run.message("GatewayReady")).toMatch(/^Service lakeside-gateway: exists and belongs to Gadget g, so/);
  });

  test("an object that is deleted by the time it is read: the next pass starts again", async () => {
    const run = await settled();
    run.world.unseen.add(`Service ${SERVICE}`);
    run.world.intercept = (request) => {
      if (request === `get Service ${SERVICE}`) run.world.drop("Service", SERVICE);
    };
    expect(await run.tryPass()).toBe("requeue");
    expect(run.status.phase).toBe("Ready");
  });

  test("an object that is being deleted is waited for", async () => {
    const run = await settled();
    const found = run.world.get("Service", SERVICE);
    const metadata = { ...found?.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    for (const seen of [true, false]) {
      run.world.put("Service", { ...found, metadata });
      if (!seen) run.world.unseen.add(`Service ${SERVICE}`);
      expect(await run.tryPass()).toEqual({ afterMs: 10_000 });
      expect(run.message("GatewayReady")).toBe("Service lakeside-gateway: is still being deleted");
    }
    expect(run.world.requests.filter((request) => request.startsWith("update"))).toEqual([]);
  });

  test("an update is bound to the object that was observed", async () => {
    const run = await settled();
    run.world.edit("lakeside", (spec) => {
      spec.gateway.replicas = 5;
    });
    run.world.intercept = (request) => {
      if (request === "update Deployment lakeside-gateway")
        run.world.put("Deployment", { metadata: { name: "lakeside-gateway", ownerReferences: [other] } });
    };
    expect(await run.tryPass()).toEqual({ afterMs: 200 });
    expect(run.world.get("Deployment", "lakeside-gateway")?.metadata?.ownerReferences).toEqual([other]);
  });

  test("an object of an earlier instance of the name is left to the garbage collector", async () => {
    const run = new InstanceRun({ id: "x" });
    const earlier = {
      apiVersion: "compute.firebolt.io/v1alpha1",
      kind: "FireboltInstance",
      name: "lakeside",
      uid: "old",
    };
    const ownerReferences = [{ ...earlier, controller: true }];
    const labels = { "firebolt.io/instance": "lakeside" };
    run.world.put("Service", { metadata: { name: "lakeside-metadata", labels, ownerReferences } });
    for (let pass = 0; pass < 3; pass++) await run.tryPass();
    expect(run.message("MetadataReady")).toMatch(/exists and belongs to an earlier FireboltInstance lakeside: garbage/);
  });
});
