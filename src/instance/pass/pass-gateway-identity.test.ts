// Passes over a fake cluster in memory: what the command line determines the gateway's identity, its agent and its
// hardening, and what changing one of them writes.
import { KubeApiError } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { Crash } from "../../../test/instance/support/fake-instance-store.ts";
import { InstanceRun } from "../../../test/instance/support/fake-passes.ts";

const WAKE_AGENT = { image: "example.com/operator:1", pullPolicy: "" };
const CLUSTER_ROLE = "fo-gateway-wake";
const NAME = "lakeside-gateway";

async function settled(settings: Partial<InstanceRun["settings"]>, template?: object): Promise<InstanceRun> {
  const run = new InstanceRun(template === undefined ? {} : { gateway: { metricsPort: 9090, template } });
  run.settings = { ...run.settings, ...settings };
  await run.settle();
  run.forgetRequests();
  return run;
}

/** As if the operator had been restarted with other flags. */
function restarted(run: InstanceRun, settings: Partial<InstanceRun["settings"]>): InstanceRun {
  run.restart();
  run.settings = { images: run.settings.images, metadataConfigFormat: "xml", ...settings };
  return run;
}

/** A new process reads the Secret once; that is left out here. */
const asked = (run: InstanceRun) => run.world.requests.filter((request) => !request.startsWith("get Secret"));
const roleRef = (run: InstanceRun) => run.world.get("RoleBinding", NAME)?.roleRef;
const template = (run: InstanceRun) => run.world.get("Deployment", NAME)?.spec?.template;
const agentOf = (run: InstanceRun) => template(run)?.spec?.containers.find(({ name }) => name === "wake-agent");
const rulesOf = (run: InstanceRun) =>
  run.world.get("Role", NAME)?.rules?.map(({ resources, verbs }) => `${resources}: ${verbs}`);

describe("--wake-mode", () => {
  test("demand: the agent writes no wake requests, and the Role has no right on engines", async () => {
    const run = await settled({ wakeAgent: WAKE_AGENT, wakeMode: "demand" });
    expect(agentOf(run)?.args?.join(" ")).not.toContain("stamp");
    expect(rulesOf(run)).toEqual(["endpointslices: get,list,watch"]);
  });

  test("demand without an agent: a Role without a right, and an added one is removed", async () => {
    const run = await settled({ wakeMode: "demand" });
    expect(rulesOf(run)).toEqual([]);
    const role = run.world.get("Role", NAME);
    run.world.put("Role", { ...role, rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }] });
    await run.settle();
    expect(rulesOf(run)).toEqual([]);
  });

  test("back and forth: role and gateway are written, and nothing else", async () => {
    const run = await settled({ wakeAgent: WAKE_AGENT });
    const before = JSON.stringify([rulesOf(run), template(run)]);
    for (const wakeMode of ["demand", "annotation"] as const) {
      run.forgetRequests();
      await restarted(run, { wakeAgent: WAKE_AGENT, wakeMode }).settle();
      expect(asked(run)).toEqual([`update Role ${NAME}`, `update Deployment ${NAME}`]);
    }
    expect(JSON.stringify([rulesOf(run), template(run)])).toBe(before);
  });
});

describe("gateway-cluster-role: --gateway-wake-cluster-role", () => {
  test("from the start: bound to the ClusterRole, without a Role, and Roles are never requested", async () => {
    const run = new InstanceRun();
    run.settings = { ...run.settings, gatewayClusterRole: CLUSTER_ROLE };
    await run.settle();
    expect(roleRef(run)).toEqual({ apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: CLUSTER_ROLE });
    expect(run.world.requests.filter((request) => / Role /.test(request))).toEqual([]);
  });

  test("enabled: dry run first, then the Role is deleted, then the binding is replaced; the gateway is not rolled", async () => {
    const run = await settled({});
    await restarted(run, { gatewayClusterRole: CLUSTER_ROLE }).settle();
    expect(asked(run)).toEqual([
      `rehearse RoleBinding ${NAME}`,
      `get Role ${NAME}`,
      `delete Role ${NAME}`,
      `delete RoleBinding ${NAME}`,
      `create RoleBinding ${NAME}`,
    ]);
    expect(roleRef(run)?.name).toBe(CLUSTER_ROLE);
  });

  test("disabled again: the Role exists before the binding to it", async () => {
    const run = await settled({ gatewayClusterRole: CLUSTER_ROLE });
    await restarted(run, {}).settle();
    expect(asked(run)).toEqual([
      `create Role ${NAME}`,
      `rehearse RoleBinding ${NAME}`,
      `delete RoleBinding ${NAME}`,
      `create RoleBinding ${NAME}`,
    ]);
    expect(roleRef(run)).toMatchObject({ kind: "Role", name: NAME });
  });

  test("another ClusterRole: no Role is touched", async () => {
    const run = await settled({ gatewayClusterRole: CLUSTER_ROLE });
    await restarted(run, { gatewayClusterRole: "other" }).settle();
    expect(run.world.requests.filter((request) => / Role /.test(request))).toEqual([]);
    expect(roleRef(run)?.name).toBe("other");
  });

  test("a ClusterRole that may not be bound: the condition reports it, and the old binding is kept", async () => {
    const run = await settled({});
    run.world.intercept = (request) => {
      if (request.startsWith("rehearse"))
        throw new KubeApiError("POST", 404, { message: `"${CLUSTER_ROLE}" not found` });
    };
    restarted(run, { gatewayClusterRole: CLUSTER_ROLE });
    expect(await run.tryPass()).toEqual({ afterMs: 10_000 });
    expect(run.condition("GatewayReady")).toBe("False/EnsureFailed");
    expect(run.message("GatewayReady")).toContain(`RoleBinding ${NAME}: `);
    expect(run.message("GatewayReady")).toContain(`"${CLUSTER_ROLE}" not found`);
    expect(roleRef(run)).toMatchObject({ kind: "Role", name: NAME });
    expect(rulesOf(run)).toBeDefined();
  });

  test("without permissions on Roles the old one is kept, and its deletion is not retried", async () => {
    const run = await settled({});
    run.world.intercept = (request) => {
      if (/ Role( |$)/.test(request)) throw new KubeApiError("GET", 403, { reason: "Forbidden" });
    };
    await restarted(run, { gatewayClusterRole: CLUSTER_ROLE }).settle();
    expect(roleRef(run)?.name).toBe(CLUSTER_ROLE);
    run.forgetRequests();
    run.restart();
    await run.settle();
    expect(asked(run)).toEqual([]);
  });

  test("a Role of another owner is not deleted", async () => {
    const run = await settled({});
    const role = run.world.get("Role", NAME);
    run.world.put("Role", { ...role, metadata: { ...role?.metadata, ownerReferences: [] } });
    await restarted(run, { gatewayClusterRole: CLUSTER_ROLE }).settle();
    expect(run.world.get("Role", NAME)).toBeDefined();
  });

  test("a process that exits after any of the writes: the next one finishes", async () => {
    const writes = ["delete Role", "delete RoleBinding", "create RoleBinding"];
    for (const cut of writes) {
      const run = await settled({});
      const end = (): never => {
        throw new Crash(cut);
      };
      run.world.loseResponse = (request) => {
        if (!request.startsWith(cut)) return;
        run.world.intercept = end;
        end();
      };
      restarted(run, { gatewayClusterRole: CLUSTER_ROLE });
      await expect(run.pass(), cut).rejects.toThrow();
      run.world.intercept = () => undefined;
      run.world.loseResponse = () => undefined;
      run.restart();
      await run.settle();
      expect([roleRef(run)?.name, run.world.get("Role", NAME)], cut).toEqual([CLUSTER_ROLE, undefined]);
    }
  });

  test("deleting an instance requests no Roles", async () => {
    const run = await settled({ gatewayClusterRole: CLUSTER_ROLE });
    const { instance } = run;
    run.world.put("FireboltInstance", {
      ...instance,
      metadata: { ...instance.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
    });
    await run.pass();
    expect(run.world.requests).toContain("list RoleBinding");
    expect(run.world.requests).not.toContain("list Role");
    expect(run.world.get("FireboltInstance", "lakeside")).toBeUndefined();
  });
});

describe("runtime-default-seccomp: --component-seccomp", () => {
  const profiles = (run: InstanceRun) => [
    template(run)?.spec?.securityContext?.seccompProfile?.type,
    agentOf(run)?.securityContext?.seccompProfile?.type,
  ];

  test("RuntimeDefault unless it is disabled, for the gateway and its agent alone", async () => {
    const run = await settled({ wakeAgent: WAKE_AGENT });
    expect(profiles(run)).toEqual(["RuntimeDefault", "RuntimeDefault"]);
    await restarted(run, { wakeAgent: WAKE_AGENT, componentSeccomp: "none" }).settle();
    expect(asked(run)).toEqual([`update Deployment ${NAME}`]);
    expect(profiles(run)).toEqual([undefined, undefined]);
    const metadata = run.world.get("Deployment", "lakeside-metadata")?.spec?.template.spec?.securityContext;
    expect(metadata?.seccompProfile?.type).toBe("RuntimeDefault");
  });

  test("the pod's own profile wins either way", async () => {
    const seccompProfile = { type: "Localhost", localhostProfile: "envoy.json" };
    for (const componentSeccomp of ["none", "RuntimeDefault"] as const) {
      const run = await settled({ componentSeccomp }, { spec: { securityContext: { seccompProfile } } });
      expect(template(run)?.spec?.securityContext?.seccompProfile).toEqual(seccompProfile);
    }
  });
});

describe("event WakeOnZeroDisabled", () => {
  const OWN = { spec: { serviceAccountName: "mine" } };
  const recorded = (run: InstanceRun) => run.events.filter(({ reason }) => reason === "WakeOnZeroDisabled");
  const withAccount = (run: InstanceRun, account: string | undefined) =>
    run.world.edit("lakeside", (spec) => {
      spec.gateway.template = { spec: account === undefined ? {} : { serviceAccountName: account } };
    });

  test("reported once when the gateway runs under the user's account, whatever else happens and whichever process leads", async () => {
    const run = await settled({ wakeAgent: WAKE_AGENT }, OWN);
    run.world.report(NAME, 0);
    await run.pass();
    run.restart();
    await run.settle();
    withAccount(run, "another");
    await run.settle();
    expect(recorded(run)).toEqual([
      expect.objectContaining({
        type: "Warning",
        action: "Reconcile",
        regarding: expect.objectContaining({ kind: "FireboltInstance", name: "lakeside" }),
        note: expect.stringMatching(/^Queries do not wake stopped engines, which return 503, .* ServiceAccount mine$/),
      }),
    ]);
    expect(run.message("GatewayReady")).toMatch(/has a ready replica; queries do not wake .* ServiceAccount another$/);
  });

  test("reported again when it begins again, and not while it is over", async () => {
    const run = await settled({ wakeAgent: WAKE_AGENT });
    expect(recorded(run)).toEqual([]);
    withAccount(run, "mine");
    await run.settle();
    withAccount(run, undefined);
    await run.settle();
    expect(recorded(run)).toHaveLength(1);
    expect(run.message("GatewayReady")).not.toContain("mine");
    withAccount(run, "mine");
    await run.settle();
    expect(recorded(run)).toHaveLength(2);
  });

  test("not reported by an operator that wakes no engine anyway", async () => {
    const run = await settled({}, OWN);
    expect(recorded(run)).toEqual([]);
    expect(run.message("GatewayReady")).not.toContain("queries");
  });
});
