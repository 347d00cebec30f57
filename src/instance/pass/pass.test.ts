// Whole passes over a fake cluster in memory: the steps, readiness and the one status write.
import { describe, expect, test } from "vitest";
import { InstanceRun, KEY } from "../../../test/instance/support/fake-passes.ts";
import { INSTANCE_NAMES } from "../../api/group.ts";

const SECRET = "lakeside-metadata-postgres-creds";
const GATEWAY_OBJECTS = [
  "ConfigMap lakeside-gateway-config",
  "Deployment lakeside-gateway",
  "Service lakeside-gateway",
];

describe("instance-created: a new instance", () => {
  test("gets finalizer, id and phase first, each in a pass of its own", async () => {
    const run = new InstanceRun();
    expect(await run.pass()).toBe("requeue");
    expect(run.instance.metadata?.finalizers).toEqual([INSTANCE_NAMES.finalizer]);
    expect(await run.pass()).toBe("requeue");
    expect(run.instance.spec.id).toMatch(/^[0-9A-Z]{26}$/);
    expect(await run.pass()).toBe("requeue");
    expect(run.status.phase).toBe("Provisioning");
    expect(run.condition("Ready")).toBe("False/Initializing");
    expect(run.world.inventory()).toEqual(["FireboltInstance lakeside"]);
  });

  test("gets Postgres and metadata in one pass, and the gateway only when metadata serves", async () => {
    const run = new InstanceRun({ id: "mine" });
    await run.settle({});
    expect(run.world.inventory()).toEqual([
      "ConfigMap lakeside-metadata-config",
      "Deployment lakeside-metadata",
      "FireboltInstance lakeside",
      "PersistentVolumeClaim data-lakeside-metadata-pg-0",
      `Secret ${SECRET}`,
      "Service lakeside-metadata",
      "Service lakeside-metadata-pg",
      "StatefulSet lakeside-metadata-pg",
    ]);
    expect(run.status).toMatchObject({ phase: "Provisioning", metadataReady: false, gatewayReady: false });
    expect(await run.pass()).toEqual({ afterMs: 5_000 });

    await run.settle({ metadata: 1 });
    expect(run.world.inventory()).toEqual(expect.arrayContaining(GATEWAY_OBJECTS));
    expect(run.status).toMatchObject({
      phase: "Provisioning",
      metadataEndpoint: "lakeside-metadata.ns.svc.cluster.local:7000",
    });
    expect(run.status).not.toHaveProperty("gatewayEndpoint");

    await run.settle();
    expect(run.status).toMatchObject({
      phase: "Ready",
      metadataReady: true,
      gatewayReady: true,
      gatewayEndpoint: "lakeside-gateway.ns.svc.cluster.local",
    });
    expect(run.condition("Ready")).toBe("True/AllComponentsReady");
    expect(run.instance.spec.id).toBe("mine");
    expect(await run.pass()).toEqual({ afterMs: 30_000 });
  });

  test("writes its objects in the order in which they need each other", async () => {
    const run = new InstanceRun();
    await run.settle();
    const applied = run.world.requests.filter((request) => /^(update|create)/.test(request));
    expect(applied).toEqual([
      `create Secret ${SECRET}`,
      "create StatefulSet lakeside-metadata-pg",
      "create Service lakeside-metadata-pg",
      "create ConfigMap lakeside-metadata-config",
      "create Deployment lakeside-metadata",
      "create Service lakeside-metadata",
      "create ServiceAccount lakeside-gateway",
      "create Role lakeside-gateway",
      "create RoleBinding lakeside-gateway",
      "create ConfigMap lakeside-gateway-config",
      "create Deployment lakeside-gateway",
      "create Service lakeside-gateway",
      "create PodDisruptionBudget lakeside-gateway",
    ]);
  });

  test("reports what happened, once", async () => {
    const run = new InstanceRun();
    await run.settle();
    expect(run.events.map(({ reason, type }) => `${type} ${reason}`)).toEqual([
      "Normal PhaseChanged",
      "Normal PostgresCredentialsCreated",
      "Normal ComponentReady",
      "Normal ComponentReady",
      "Normal PhaseChanged",
    ]);
    expect(JSON.stringify(run.events)).not.toContain(run.world.get("Secret", SECRET)?.data?.["password"]);
  });
});

describe("metadata-pod-lost, gateway-not-ready, ready-phase-is-ready-condition, no-endpoint-without-replica: readiness", () => {
  test("metadata-pod-lost: metadata stops serving and serves again", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.report("lakeside-metadata", 0);
    await run.pass();
    expect(run.status).toMatchObject({ phase: "Degraded", metadataReady: false, gatewayReady: true });
    expect(run.status).not.toHaveProperty("metadataEndpoint");
    expect(run.status.gatewayEndpoint).toBe("lakeside-gateway.ns.svc.cluster.local");
    expect(run.condition("Ready")).toBe("False/Provisioning");
    expect(run.message("Ready")).toMatch(/^MetadataReady: /);
    await run.settle();
    expect(run.status.phase).toBe("Ready");
  });

  test("gateway-not-ready: the gateway has no ready pod", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.report("lakeside-gateway", 0);
    await run.pass();
    expect(run.status).toMatchObject({ phase: "Degraded", metadataReady: true, gatewayReady: false });
    expect(run.status).not.toHaveProperty("gatewayEndpoint");
    expect(run.status.metadataEndpoint).toBeDefined();
    expect(run.events.at(-1)).toMatchObject({ type: "Warning", reason: "PhaseChanged" });
  });

  test("an idle instance sends no request to the API server", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.forgetRequests();
    for (let pass = 0; pass < 20; pass++) {
      run.nowMs += 30_000;
      await run.pass();
    }
    expect(run.world.requests).toEqual([]);
  });

  test("a restarted process reads the Secret once and writes nothing", async () => {
    const run = new InstanceRun();
    await run.settle();
    run.restart();
    run.forgetRequests();
    await run.pass();
    await run.pass();
    expect(run.world.requests).toEqual([`get Secret ${SECRET}`]);
  });
});

describe("rejected templates", () => {
  const sidecar = (container: object) => ({ spec: { containers: [{ name: "side", image: "x", ...container }] } });
  test.each([
    ["MetadataReady", "metadata", { metadata: { labels: { "firebolt.io/x": "y" } } }, /labels\[firebolt.io\/x\]/],
    ["GatewayReady", "gateway", { spec: { hostNetwork: true } }, /spec.gateway.template.spec.hostNetwork/],
    [
      "GatewayReady",
      "gateway",
      sidecar({ envFrom: [{ secretRef: { name: SECRET } }] }),
      /spec.gateway.template.spec.containers\[0\]: Forbidden: reaches Secret/,
    ],
    [
      "MetadataReady",
      "metadata",
      { spec: { volumes: [{ name: "v", projected: { sources: [{ secret: { name: "x-auth-signing-1" } }] } }] } },
      /spec.metadata.template.spec.volumes\[0\]/,
    ],
  ] as const)("%s shows the problem of the %s template", async (type, component, template, message) => {
    const run = new InstanceRun({ id: "x", [component]: { metricsPort: 9090, engineRegistration: false, template } });
    for (let pass = 0; pass < 2; pass++) await run.pass();
    expect(await run.pass()).toEqual({ afterMs: 10_000 });
    expect(run.condition(type)).toBe("False/TemplateRejected");
    expect(run.message(type)).toMatch(message);
    expect(run.world.inventory()).toEqual(["FireboltInstance lakeside"]);
  });
});

describe("retry-own-status-only, one-status-write, no-blind-overwrite: the status write", () => {
  /** Somebody changes the instance after it was read and before the status is stored. */
  const meanwhile = (run: InstanceRun, change: () => void) => {
    run.world.intercept = (request) => {
      if (!request.startsWith("status")) return;
      run.world.intercept = () => undefined;
      change();
    };
  };
  const degrading = async () => {
    const run = new InstanceRun();
    await run.settle();
    run.world.report("lakeside-metadata", 0);
    run.forgetRequests();
    return run;
  };

  test("is repeated when only something else of the instance changed", async () => {
    const run = await degrading();
    meanwhile(run, () => {
      const { metadata } = run.instance;
      run.world.put("FireboltInstance", { ...run.instance, metadata: { ...metadata, annotations: { a: "b" } } });
    });
    await run.pass();
    expect(run.status.phase).toBe("Degraded");
    expect(run.instance.metadata?.annotations).toEqual({ a: "b" });
    expect(run.world.requests.filter((request) => request.startsWith("status"))).toHaveLength(2);
  });

  test.each([
    [
      "another status",
      (run: InstanceRun) => run.world.put("FireboltInstance", { ...run.instance, status: { phase: "Failed" } }),
    ],
    [
      "another spec",
      (run: InstanceRun) => run.world.edit("lakeside", (spec) => void Object.assign(spec.gateway, { replicas: 3 })),
    ],
  ])("is discarded for %s", async (_, change) => {
    const run = await degrading();
    meanwhile(run, () => change(run));
    expect(await run.pass()).toBe("requeue");
    expect(run.status.phase).not.toBe("Degraded");
  });

  test("of a deleted instance is no failure", async () => {
    const run = await degrading();
    meanwhile(run, () => run.world.drop("FireboltInstance", KEY.name));
    expect(await run.pass()).toBe("onChange");
  });

  test("is one per pass, and the last request", async () => {
    const run = new InstanceRun({ id: "x" });
    for (let pass = 0; pass < 12; pass++) {
      run.forgetRequests();
      run.world.report("lakeside-metadata", 1);
      await run.pass();
      const statuses = run.world.requests.filter((request) => request.startsWith("status"));
      expect(statuses.length).toBeLessThanOrEqual(1);
      if (statuses.length === 1) expect(run.world.requests.at(-1)).toBe(statuses[0]);
    }
  });
});
