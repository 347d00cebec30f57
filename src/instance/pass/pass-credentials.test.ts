// Passes over a fake cluster in memory: the database's credentials, generated or brought, and the account id. Neither
// may ever change.
import { describe, expect, test } from "vitest";
import { splitNextStep } from "../../../test/harness/fixtures/next-step.ts";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

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

describe("database-secret-missing: external PostgreSQL", () => {
  test.each([
    ["is missing", undefined, /Secret login does not exist/],
    ["has no password", { username: "u" }, /Secret login has no value for password/],
    ["is empty", { username: "", password: "" }, /no value for username and password/],
  ])("a Secret that %s is reported and waited for", async (_, data, message) => {
    const run = new InstanceRun(external);
    if (data !== undefined) run.world.put("Secret", secret(data));
    for (let pass = 0; pass < 3; pass++) await run.pass();
    expect(await run.pass()).toEqual({ afterMs: 10_000 });
    expect(run.condition("MetadataReady")).toBe("False/PostgresSecretPreflightFailed");
    expect(run.message("MetadataReady")).toMatch(message);
    expect(run.world.inventory().filter((name) => name.startsWith("Deployment"))).toEqual([]);
    run.world.put("Secret", secret({ username: "u", password: "p" }));
    await run.settle();
    expect(run.status.phase).toBe("Ready");
    expect(run.world.inventory()).not.toContain("StatefulSet lakeside-metadata-pg");
  });

  test("a reference without a name is reported without a request", async () => {
    const postgres = { ...EXTERNAL, credentialsSecretRef: { name: "" } };
    const run = new InstanceRun({ id: "x", metadata: { engineRegistration: false, postgres } });
    for (let pass = 0; pass < 4; pass++) await run.tryPass();
    expect(run.message("MetadataReady")).toBe(
      "spec.metadata.postgres.credentialsSecretRef names no Secret; set its name",
    );
    expect(run.world.requests.filter((request) => request.startsWith("get"))).toEqual([]);
  });

  test("a Secret that is missing when the spec changes makes metadata unready although its pods run", async () => {
    const run = new InstanceRun(external);
    run.world.put("Secret", secret({ username: "u", password: "p" }));
    await run.settle();
    run.world.drop("Secret", "login");
    run.world.edit("lakeside", (spec) => {
      spec.gateway.replicas = 3;
    });
    await run.pass();
    expect(run.status).toMatchObject({ phase: "Degraded", metadataReady: false, gatewayReady: true });
    expect(run.status).not.toHaveProperty("metadataEndpoint");
  });

  test("a Secret that is deleted or emptied while everything runs is noticed within two minutes, and so is its return", async () => {
    const run = new InstanceRun(external);
    run.world.put("Secret", secret({ username: "u", password: "p" }));
    await run.settle();
    const idle = async (minutes: number) => {
      for (let pass = 0; pass < 2 * minutes; pass++) {
        run.nowMs += 30_000;
        await run.pass();
      }
    };
    run.forgetRequests();
    await idle(10);
    // Once a minute, and nothing else.
    expect(run.world.requests).toEqual(Array.from({ length: 10 }, () => "get Secret login"));
    for (const loss of [
      () => run.world.drop("Secret", "login"),
      () => run.world.put("Secret", secret({ username: "u" })),
    ]) {
      loss();
      await idle(2);
      expect(run.status).toMatchObject({ phase: "Degraded", metadataReady: false, gatewayReady: true });
      expect(run.status).not.toHaveProperty("metadataEndpoint");
      expect(run.condition("Ready")).toBe("False/PostgresSecretPreflightFailed");
      expect(await run.pass()).toEqual({ afterMs: 10_000 });
      run.world.put("Secret", secret({ username: "u", password: "p" }));
      await run.pass();
      expect(run.status.phase).toBe("Ready");
    }
  });

  test("a change from internal to external deletes the workload when no pod uses it, and keeps the data", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.put("Secret", secret({ username: "u", password: "p" }));
    run.world.edit("lakeside", (spec) => {
      spec.metadata.postgres = EXTERNAL;
    });
    for (let pass = 0; pass < 3; pass++) await run.pass();
    // The old pod may still be running: the Deployment has not reported yet.
    expect(run.world.inventory()).toContain("StatefulSet lakeside-metadata-pg");
    await run.settle();
    const left = run.world.inventory().filter((name) => /pg|postgres/.test(name));
    expect(left).toEqual(["PersistentVolumeClaim data-lakeside-metadata-pg-0", `Secret ${SECRET}`]);
    expect(run.status.phase).toBe("Ready");

    const password = run.world.get("Secret", SECRET)?.data?.["password"];
    run.world.edit("lakeside", (spec) => {
      delete spec.metadata.postgres;
    });
    await run.settle();
    expect(run.world.inventory()).toContain("StatefulSet lakeside-metadata-pg");
    expect(run.world.get("Secret", SECRET)?.data?.["password"]).toBe(password);
  });
});

describe("id-and-password-never-change: the generated credentials", () => {
  const password = (run: InstanceRun) => run.world.get("Secret", SECRET)?.data?.["password"];

  test("are 24 hexadecimal characters", async () => {
    const run = new InstanceRun();
    await run.settle();
    expect(Buffer.from(password(run) ?? "", "base64").toString()).toMatch(/^[0-9a-f]{24}$/);
  });

  test.each([
    [
      "another type",
      { type: "kubernetes.io/basic-auth" },
      /is of type .*; next: delete it.*kubectl delete secret lakeside-metadata-postgres-creds -n ns; then restore it/,
    ],
    [
      "no password",
      { data: { username: "ZmlyZWJvbHQ=", database: "ZmlyZWJvbHRfbWV0YWRhdGE=" } },
      /no value for password; next: restore it.*\| kubectl apply/,
    ],
    ["another user", { data: { username: "eA==", password: "eA==", database: "eA==" } }, /names a user other than/],
  ])("an existing Secret with %s is rejected and never repaired", async (_, change, message) => {
    const run = new InstanceRun({ id: "x" });
    const found = { metadata: { name: SECRET }, type: "Opaque", data: {}, ...change };
    const stored = run.world.put("Secret", found);
    for (let pass = 0; pass < 3; pass++) await run.pass();
    expect(await run.pass()).toEqual({ afterMs: 10_000 });
    expect(run.condition("MetadataReady")).toBe("False/PostgresEnsureFailed");
    expect(run.message("MetadataReady")).toMatch(message);
    expect(run.world.get("Secret", SECRET)).toEqual(stored);
  });

  test("a missing Secret is not replaced while its data exists", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.drop("Secret", SECRET);
    run.restart();
    await run.pass();
    expect(run.message("MetadataReady")).toMatch(
      /is missing, but its database still exists in PersistentVolumeClaim data-/,
    );
    expect(run.world.get("Secret", SECRET)).toBeUndefined();
    run.world.drop("PersistentVolumeClaim", "data-lakeside-metadata-pg-0");
    await run.tryPass();
    expect(run.condition("MetadataReady")).toBe("False/CatalogueLost");
    const { metadata, ...rest } = run.instance;
    const annotations = { "firebolt.io/accept-empty-catalogue": `lost-${run.status.builtInPostgres?.claimUID}` };
    run.world.put("FireboltInstance", { ...rest, metadata: { ...metadata, annotations } });
    await run.settle();
    expect(run.status.phase).toBe("Ready");
    expect(run.world.get("Secret", SECRET)).toBeDefined();
  });

  test("a Secret that is deleted while everything runs is reported at once, with every next step, and recovers when it is restored", async () => {
    const run = new InstanceRun();
    await run.settle();
    const stored = run.world.get("Secret", SECRET);
    run.world.drop("Secret", SECRET);
    await run.pass();
    expect(run.condition("Ready")).toBe("False/PostgresEnsureFailed");
    expect(splitNextStep(run.message("Ready")).next).toMatch(
      /^restore the Secret from a backup; .*kubectl create secret generic .* -n ns --from-literal=username=firebolt .*--dry-run=client.*\| kubectl label --local -f - firebolt.io\/instance=lakeside firebolt.io\/component=postgres .*\| kubectl apply .*ALTER ROLE firebolt PASSWORD/,
    );
    expect(run.message("Ready")).toMatch(/Deleting the claim instead destroys the catalogue/);
    expect(run.events.filter(({ type }) => type === "Warning").map(({ reason }) => reason)).toContain(
      "ComponentUnready",
    );
    // Running pods continue: the service has already read its password.
    expect(run.status.metadataEndpoint).toBeDefined();
    run.world.put("Secret", { ...stored });
    await run.pass();
    expect(run.status.phase).toBe("Ready");
    run.forgetRequests();
    for (let pass = 0; pass < 20; pass++) {
      run.nowMs += 30_000;
      await run.pass();
    }
    expect(run.world.requests).toEqual([]);
  });

  test("a Secret that appears at the last moment is verified before it is used", async () => {
    const run = new InstanceRun({ id: "x" });
    for (let pass = 0; pass < 2; pass++) await run.pass();
    run.world.intercept = (request) => {
      if (request === `create Secret ${SECRET}`)
        run.world.put("Secret", { metadata: { name: SECRET }, type: "Opaque" });
    };
    expect(await run.pass()).toBe("requeue");
    expect(run.world.inventory()).not.toContain("StatefulSet lakeside-metadata-pg");
    await run.pass();
    expect(run.condition("MetadataReady")).toBe("False/PostgresEnsureFailed");
  });
});

describe("id-never-minted-twice, id-and-password-never-change: spec.id", () => {
  test("is restored, not replaced, when metadata already runs with one", async () => {
    const run = new InstanceRun();
    await run.settle();
    const { id } = run.instance.spec;
    run.world.edit("lakeside", (spec) => {
      delete spec.id;
    });
    await run.pass();
    expect(run.instance.spec.id).toBe(id);
  });

  test("is requested from the user when the configuration does not contain it any more", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.put("ConfigMap", {
      ...run.world.get("ConfigMap", "lakeside-metadata-config"),
      data: { "config.xml": "" },
    });
    run.world.edit("lakeside", (spec) => {
      delete spec.id;
    });
    expect(await run.pass()).toEqual({ afterMs: 10_000 });
    expect(run.instance.spec.id).toBeUndefined();
    expect(run.message("MetadataReady")).toMatch(/set spec.id to the former id/);
  });

  test("is new when the configuration belongs to an older instance of the same name", async () => {
    const run = new InstanceRun();
    const data = { "config.xml": "<default_account_id>old</default_account_id>" };
    run.world.put("ConfigMap", { metadata: { name: "lakeside-metadata-config", labels: {} }, data });
    await run.pass();
    await run.pass();
    expect(run.instance.spec.id).not.toBe("old");
  });

  test("with control characters is rejected", async () => {
    const run = new InstanceRun({ id: "a\u0001" });
    for (let pass = 0; pass < 3; pass++) await run.pass();
    expect(run.condition("MetadataReady")).toBe("False/EnsureFailed");
    expect(run.message("MetadataReady")).toMatch(/^spec.id: Invalid value/);
  });
});
