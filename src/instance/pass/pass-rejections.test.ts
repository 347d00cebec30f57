// Passes over a fake cluster in memory: what the API server rejects for reasons outside the spec is shown and retried
// at a steady pace, and prevents nothing else from being repaired or reported.
import { KubeApiError, KubeConnectionError } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";
import { isPermanentRejection, isRejection } from "../model/rejection.ts";

const WEBHOOK = { reason: "InternalError", message: 'failed calling webhook "x": connection refused' };
const CONFLICT = {
  reason: "Conflict",
  message: "Apply failed with 1 conflict",
  details: {
    causes: [{ reason: "FieldManagerConflict", message: 'conflict with "kubectl"', field: ".spec.replicas" }],
  },
};

const rejecting = (run: InstanceRun, pattern: RegExp, error: () => Error) => {
  run.world.intercept = (request) => {
    if (pattern.test(request)) throw error();
  };
};

async function settled(): Promise<InstanceRun> {
  const run = new InstanceRun();
  await run.settle();
  return run;
}

describe("a rejected object", () => {
  test.each([
    ["a policy or a quota", 403, { reason: "Forbidden", message: "exceeded quota: none" }, /exceeded quota: none/],
    ["a policy that returns 400", 400, { reason: "BadRequest", message: "denied by policy" }, /denied by policy/],
    ["a webhook that cannot be called", 500, WEBHOOK, /failed calling webhook "x": connection refused/],
    ["an apply that cannot be merged", 500, { message: "duplicate entries for key" }, /duplicate entries for key/],
    [
      "a field of another manager",
      409,
      CONFLICT,
      /^Deployment lakeside-gateway: .spec.replicas: conflict with "kubectl"/,
    ],
  ])("%s: shown, retried every 10 s, never final", async (_, status, body, message) => {
    const run = await settled();
    run.world.edit("lakeside", (spec) => {
      spec.gateway.replicas = 3;
    });
    rejecting(run, /^(update|overwrite) Deployment lakeside-gateway/, () => new KubeApiError("PATCH", status, body));
    for (let pass = 0; pass < 10; pass++) expect(await run.tryPass()).toEqual({ afterMs: 10_000 });
    expect(run.status.phase).toBe("Degraded");
    expect(run.condition("GatewayReady")).toBe("False/EnsureFailed");
    expect(run.message("GatewayReady")).toMatch(message);
    expect(run.events.at(-1)).toMatchObject({ type: "Warning", reason: "PhaseChanged" });
    run.world.intercept = () => undefined;
    await run.settle();
    expect(run.status.phase).toBe("Ready");
  });

  test("one that gets no response backs off: the API server may be down", async () => {
    const run = await settled();
    run.world.drop("ConfigMap", "lakeside-gateway-config");
    rejecting(run, /^create ConfigMap/, () => new KubeConnectionError("ECONNREFUSED"));
    expect(await run.tryPass()).toBeInstanceOf(Error);
    expect(run.world.requests.filter((request) => request.startsWith("create ConfigMap"))).toHaveLength(3);
  });

  test.each([
    [new KubeApiError("POST", 422, {}), true, true],
    [new KubeApiError("POST", 400, { message: "field is immutable" }), true, true],
    [new KubeApiError("POST", 403, {}), true, false],
    [new KubeApiError("POST", 409, { reason: "Conflict" }), false, false],
    [new KubeApiError("POST", 429, {}), false, false],
    [new KubeApiError("POST", 503, {}), false, false],
    [new KubeConnectionError("reset"), false, false],
    [new TypeError("a defect"), false, false],
  ])("%s: refusal %s, permanent %s", (error, refusal, permanent) => {
    expect([isRejection(error), isPermanentRejection(error)]).toEqual([refusal, permanent]);
  });
});

describe("while one object is rejected", () => {
  const denied = () => new KubeApiError("POST", 403, { reason: "Forbidden", message: "denied" });
  const writes = (run: InstanceRun) => run.world.requests.filter((request) => /^(create|update|delete)/.test(request));

  test("the status shows what was observed of everything else", async () => {
    const run = await settled();
    run.world.drop("ConfigMap", "lakeside-gateway-config");
    rejecting(run, /^create ConfigMap/, denied);
    run.world.report("lakeside-metadata", 0);
    await run.tryPass();
    expect(run.status).toMatchObject({ phase: "Degraded", metadataReady: false });
    expect(run.condition("MetadataReady")).toBe("False/Provisioning");
    run.world.report("lakeside-metadata", 1);
    run.world.report("lakeside-gateway", 0);
    await run.tryPass();
    expect(run.status).toMatchObject({ metadataReady: true, gatewayReady: false });
    expect(run.status).not.toHaveProperty("gatewayEndpoint");
    expect([run.condition("MetadataReady"), run.condition("GatewayReady")]).toEqual([
      "True/Ready",
      "False/EnsureFailed",
    ]);
  });

  test("both components may have one, and each condition names its own", async () => {
    const run = await settled();
    run.world.drop("ConfigMap", "lakeside-gateway-config");
    run.world.drop("ConfigMap", "lakeside-metadata-config");
    rejecting(run, /^create ConfigMap/, denied);
    expect(await run.tryPass()).toEqual({ afterMs: 10_000 });
    expect(run.message("MetadataReady")).toMatch(/^ConfigMap lakeside-metadata-config: .*denied/);
    expect(run.message("GatewayReady")).toMatch(/^ConfigMap lakeside-gateway-config: .*denied/);
    expect(run.message("Ready")).toMatch(/^MetadataReady: ConfigMap lakeside-metadata-config/);
  });

  test("the Services and the other component are repaired, and no Deployment rolls to what was not stored", async () => {
    const run = await settled();
    run.world.edit("lakeside", (spec) => {
      spec.metadata.template = { spec: { nodeSelector: { pool: "db" } } };
    });
    const config = run.world.get("ConfigMap", "lakeside-metadata-config");
    run.world.put("ConfigMap", { ...config, data: { "config.xml": "edited" } });
    for (const service of ["lakeside-metadata", "lakeside-metadata-pg", "lakeside-gateway"])
      run.world.drop("Service", service);
    run.world.drop("PodDisruptionBudget", "lakeside-gateway");
    rejecting(run, /^update ConfigMap lakeside-metadata-config/, denied);
    run.forgetRequests();
    await run.tryPass();
    expect(writes(run)).toEqual([
      "create Service lakeside-metadata-pg",
      "update ConfigMap lakeside-metadata-config",
      "create Service lakeside-metadata",
      "create Service lakeside-gateway",
      "create PodDisruptionBudget lakeside-gateway",
    ]);
    run.world.intercept = () => undefined;
    await run.settle();
    expect(writes(run)).toContain("update Deployment lakeside-metadata");
  });

  test("a permanent rejection beside it still counts towards Failed", async () => {
    const run = await settled();
    run.world.drop("ConfigMap", "lakeside-metadata-config");
    run.world.drop("PodDisruptionBudget", "lakeside-gateway");
    run.world.intercept = (request) => {
      if (request.startsWith("create ConfigMap")) throw denied();
      if (request.startsWith("create PodDisruptionBudget")) throw new KubeApiError("POST", 422, { reason: "Invalid" });
    };
    for (let pass = 0; pass < 2; pass++) expect(await run.tryPass()).toEqual({ afterMs: 5_000 });
    await run.tryPass();
    expect(run.status.phase).toBe("Failed");
  });

  test("a status that cannot be stored either makes the pass fail, and does not hide the cause", async () => {
    const run = await settled();
    run.world.drop("ConfigMap", "lakeside-gateway-config");
    rejecting(run, /^(create ConfigMap|status)/, denied);
    const outcome = await run.tryPass();
    expect(outcome).toBeInstanceOf(Error);
    expect(String(outcome)).toContain("ConfigMap lakeside-gateway-config");
  });
});
