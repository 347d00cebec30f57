// Passes over a fake cluster in memory: how an instance fails, starts a new attempt, and is deleted.
import { KubeApiError } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { InstanceRun, KEY } from "../../../test/instance/support/fake-passes.ts";

const SECRET = "lakeside-metadata-postgres-creds";
const EXTERNAL = {
  host: "db",
  port: 5432,
  database: "meta",
  schema: "public",
  credentialsSecretRef: { name: "login" },
};
const external = { metadata: { engineRegistration: false, postgres: EXTERNAL } };
const secret = (data: Record<string, string>) => ({
  metadata: { name: "login" },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
});

describe("failed-has-a-way-out, instance-failed, failed-left-by-people: Failed", () => {
  const refusal = () =>
    new KubeApiError("PATCH", 422, {
      reason: "Invalid",
      message: "Deployment is invalid",
      details: { causes: [{ field: "spec.replicas", message: "Invalid value: -1: must be at least 0" }] },
    });
  const refusing = (run: InstanceRun, error: () => Error = refusal) => {
    run.world.intercept = (request) => {
      if (/^(create|update|overwrite) Deployment lakeside-gateway/.test(request)) throw error();
    };
  };
  const refused = async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.edit("lakeside", (spec) => {
      spec.gateway.replicas = -1;
    });
    refusing(run);
    return run;
  };

  test("the third rejection in a row is final, and shows the field", async () => {
    const run = await refused();
    for (let pass = 0; pass < 2; pass++) {
      expect(await run.tryPass()).toEqual({ afterMs: 5_000 });
      expect(run.status.phase).toBe("Degraded");
    }
    await run.tryPass();
    expect(run.status.phase).toBe("Failed");
    expect(run.condition("GatewayReady")).toBe("False/EnsureFailed");
    expect(run.message("GatewayReady")).toBe(
      "Deployment lakeside-gateway: spec.replicas: Invalid value: -1: must be at least 0",
    );
    expect(run.message("Ready")).toMatch(
      /spec.replicas.*must be at least 0\. The operator has stopped trying: edit the spec, or set the annotation firebolt.io\/reset-failed to any value/,
    );
    expect(run.events.at(-1)).toMatchObject({ type: "Warning", reason: "PhaseChanged" });
    expect(run.events.at(-1)?.note).toContain("spec.replicas");
    run.forgetRequests();
    expect(await run.tryPass()).toEqual({ afterMs: 300_000 });
    expect(run.world.requests).toEqual([]);
    // Endpoints stay as they were.
    expect(run.status.metadataEndpoint).toBeDefined();
  });

  test("rejections of different passes must be in a row", async () => {
    const run = await refused();
    for (let pass = 0; pass < 2; pass++) await run.tryPass();
    refusing(run, () => new KubeApiError("PATCH", 503, { message: "etcd is away" }));
    expect(await run.tryPass()).toBeInstanceOf(Error);
    refusing(run);
    for (let pass = 0; pass < 2; pass++) await run.tryPass();
    expect(run.status.phase).toBe("Degraded");
    await run.tryPass();
    expect(run.status.phase).toBe("Failed");
  });

  test.each([409, 429, 503])("status %i is never final, and backs off", async (status) => {
    const run = await refused();
    refusing(run, () => new KubeApiError("PATCH", status, { message: "no" }));
    for (let pass = 0; pass < 10; pass++) expect(await run.tryPass()).toBeInstanceOf(Error);
    expect(run.status.phase).toBe("Degraded");
    expect(run.condition("GatewayReady")).toBe("False/EnsureFailed");
  });

  test("a restart only resets the count", async () => {
    const run = await refused();
    for (let pass = 0; pass < 2; pass++) await run.tryPass();
    run.restart();
    for (let pass = 0; pass < 2; pass++) await run.tryPass();
    expect(run.status.phase).toBe("Degraded");
    await run.tryPass();
    expect(run.status.phase).toBe("Failed");
  });

  test("a spec edit starts a new attempt", async () => {
    const run = await refused();
    for (let pass = 0; pass < 3; pass++) await run.tryPass();
    run.world.intercept = () => undefined;
    await run.tryPass();
    expect(run.status.phase).toBe("Failed");
    run.world.edit("lakeside", (spec) => {
      spec.gateway.replicas = 2;
    });
    await run.settle();
    expect(run.status.phase).toBe("Ready");
  });

  test("the annotation starts one attempt per value, also across a restart", async () => {
    const annotate = (value: string) => {
      const { metadata, ...rest } = run.instance;
      run.world.put("FireboltInstance", {
        ...rest,
        metadata: { ...metadata, annotations: { "firebolt.io/reset-failed": value } },
      });
    };
    const run = await refused();
    for (let pass = 0; pass < 3; pass++) await run.tryPass();
    annotate("1");
    await run.tryPass();
    expect(run.status.phase).toBe("Degraded");
    for (let pass = 0; pass < 2; pass++) await run.tryPass();
    expect(run.status.phase).toBe("Failed");
    expect(run.message("Ready")).toMatch(/to a value other than "1"\.$/);
    run.restart();
    expect(await run.tryPass()).toEqual({ afterMs: 300_000 });
    annotate("2".repeat(100));
    await run.tryPass();
    expect(run.status.phase).toBe("Degraded");
    for (let pass = 0; pass < 2; pass++) await run.tryPass();
    expect(await run.tryPass()).toEqual({ afterMs: 300_000 });
  });

  test("instance-failed: a person may set it, and unset it", async () => {
    const run = new InstanceRun();
    await run.settle();
    const phase = (value: "Failed" | "Degraded") =>
      run.world.put("FireboltInstance", { ...run.instance, status: { ...run.status, phase: value } });
    phase("Failed");
    run.world.drop("Service", "lakeside-gateway");
    await run.tryPass();
    expect(run.world.inventory()).not.toContain("Service lakeside-gateway");
    phase("Degraded");
    await run.settle();
    expect(run.status.phase).toBe("Ready");
    expect(run.world.inventory()).toContain("Service lakeside-gateway");
  });

  test("an apply that entries of others make invalid is followed by an overwrite, and is no failure", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.edit("lakeside", (spec) => {
      spec.gateway.replicas = 3;
    });
    run.world.intercept = (request) => {
      if (request === "update Deployment lakeside-gateway") throw refusal();
    };
    await run.settle();
    expect(run.world.requests).toContain("overwrite Deployment lakeside-gateway");
    expect(run.status.phase).toBe("Ready");
  });
});

describe("instance-deleted-under-engines: deletion", () => {
  const dying = async (spec = {}) => {
    const run = new InstanceRun(spec);
    if ("metadata" in spec) run.world.put("Secret", secret({ username: "u", password: "p" }));
    await run.settle();
    const { metadata, ...rest } = run.instance;
    run.world.put("FireboltInstance", {
      ...rest,
      metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
    });
    return run;
  };

  test("deletes everything", async () => {
    const run = await dying();
    expect(await run.pass()).toBe("onChange");
    expect(run.world.inventory()).toEqual([]);
  });

  test("the Secret of an external database survives, even with copied labels", async () => {
    const run = await dying(external);
    const login = run.world.get("Secret", "login");
    run.world.put("Secret", { ...login, metadata: { name: "login", labels: { "firebolt.io/instance": "lakeside" } } });
    await run.pass();
    expect(run.world.inventory()).toEqual(["Secret login"]);
  });

  test("works in Failed too, and does not touch objects of other owners", async () => {
    const run = await dying();
    run.world.put("FireboltInstance", { ...run.instance, status: { phase: "Failed" } });
    const ownerReferences = [{ apiVersion: "v1", kind: "X", name: "x", uid: "other", controller: true }];
    run.world.put("ConfigMap", {
      metadata: { name: "foreign", labels: { "firebolt.io/instance": KEY.name }, ownerReferences },
    });
    await run.pass();
    expect(run.world.inventory()).toEqual(["ConfigMap foreign"]);
  });

  test("labels alone do not make an object the instance's: neither an object without an owner nor a claim of another name is deleted", async () => {
    const run = await dying();
    const labels = { "firebolt.io/instance": KEY.name };
    run.world.put("ConfigMap", { metadata: { name: "copied", labels } });
    run.world.put("PersistentVolumeClaim", { metadata: { name: "theirs", labels } });
    await run.pass();
    expect(run.world.inventory()).toEqual(["ConfigMap copied", "PersistentVolumeClaim theirs"]);
  });

  const withFinalizer = (run: InstanceRun, finalizer: string) => {
    const { metadata, ...rest } = run.instance;
    const finalizers = [finalizer, ...(metadata?.finalizers ?? [])];
    run.world.put("FireboltInstance", { ...rest, metadata: { ...metadata, finalizers } });
  };

  test("with the finalizer orphan only our own is removed, and nothing is deleted or even listed", async () => {
    const run = await dying();
    withFinalizer(run, "orphan");
    const before = run.world.inventory();
    run.forgetRequests();
    expect(await run.pass()).toBe("onChange");
    expect(run.world.requests).toEqual([`removeFinalizer ${KEY.name}`]);
    expect(run.world.inventory()).toEqual(before);
    expect(run.instance.metadata?.finalizers).toEqual(["orphan"]);
    // The garbage collector still has to do its part; until then there is nothing more to do.
    run.forgetRequests();
    expect(await run.pass()).toBe("onChange");
    expect(run.world.requests).toEqual([]);
  });

  test("with the finalizer foregroundDeletion everything is deleted as usual", async () => {
    const run = await dying();
    withFinalizer(run, "foregroundDeletion");
    await run.pass();
    expect(run.world.inventory()).toEqual([`FireboltInstance ${KEY.name}`]);
    expect(run.instance.metadata?.finalizers).toEqual(["foregroundDeletion"]);
  });

  test.each([63, 64, 253])("a name of %i characters does not prevent the deletion of an instance", async (length) => {
    const name = "n".repeat(length);
    const run = new InstanceRun({ id: "x" }, { ...KEY, name });
    for (let pass = 0; pass < 4; pass++) await run.tryPass();
    expect(run.condition("Ready")).toBe(length > 63 ? "False/NameRejected" : "False/Provisioning");
    if (length > 63) {
      expect(run.message("Ready")).toContain(`must have at most 63 characters and has ${length}`);
      expect(run.world.inventory()).toEqual([`FireboltInstance ${name}`]);
      expect(await run.tryPass()).toEqual({ afterMs: 10_000 });
    }
    const { metadata, ...rest } = run.instance;
    run.world.put("FireboltInstance", {
      ...rest,
      metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
    });
    expect(await run.pass()).toBe("onChange");
    expect(run.world.inventory()).toEqual([]);
  });

  test("a delete that fails keeps the finalizer, and the rest is deleted anyway", async () => {
    const run = await dying();
    run.world.intercept = (request) => {
      if (request === "delete Service lakeside-gateway") throw new KubeApiError("DELETE", 500, {});
      if (request === "list Secret") throw new KubeApiError("LIST", 403, {});
    };
    await expect(run.pass()).rejects.toThrow("2 of the instance's objects could not be deleted");
    expect(run.world.inventory()).toEqual([
      "FireboltInstance lakeside",
      `Secret ${SECRET}`,
      "Service lakeside-gateway",
    ]);
    run.world.intercept = () => undefined;
    await run.pass();
    expect(run.world.inventory()).toEqual([]);
  });
});
