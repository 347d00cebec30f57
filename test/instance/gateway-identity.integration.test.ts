// The gateway's identity on a real API server with RBAC, by an operator with exactly the chart's permissions: a Role per instance or one
// ClusterRole for all, with and without the permission to annotate engines, and the ways between them on a running instance.
import { openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/control-plane/requests.ts";
import { type Helm, openHelm, type Values } from "../harness/helm/helm.ts";
import { rulesOf } from "../harness/helm/rbac-grants.ts";
import {
  type InstanceOperator,
  type InstanceOperatorOptions,
  startInstanceOperator,
} from "../harness/operator/instance-operator.ts";
import { fastClock } from "./support/fast-clock.ts";
import { type InstanceCluster, startInstanceCluster, type TestNamespace } from "./support/instance-cluster.ts";

const SPEED = 30;
const GATEWAY = "lakeside-gateway";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const PATIENCE = { timeoutMs: 120_000 };
const MANAGER = "identity-test-manager";
const SHARED = "fo-firebolt-operator-gateway-wake";
const wakeAgent = { image: "example.com/operator:1", pullPolicy: "" };

let cluster: InstanceCluster;
let helm: Helm;
let kubeconfig: string;
let operator: InstanceOperator | undefined;

beforeAll(async () => {
  [cluster, helm] = await Promise.all([startInstanceCluster(), openHelm()]);
  kubeconfig = await cluster.serviceAccountKubeconfig("identity-system", "manager");
  const subjects = [{ kind: "ServiceAccount", name: "manager", namespace: "identity-system" }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: MANAGER };
  const body = { metadata: { name: MANAGER }, roleRef, subjects };
  await cluster.api.expect({ method: "POST", path: `${RBAC}/clusterrolebindings`, body });
}, 300_000);
afterEach(async () => {
  await operator?.[Symbol.asyncDispose]();
  operator = undefined;
});
afterAll(async () => {
  await helm?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

async function putClusterRole(name: string, rules: unknown): Promise<void> {
  const path = `${RBAC}/clusterroles/${name}?fieldManager=test&force=true`;
  const body = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules };
  await cluster.api.expect({ method: "PATCH", path, body, contentType: "application/apply-patch+yaml" });
}

/** The roles that the chart makes with these values: the manager's and, if there is one, the gateways'. */
async function install(values: Values): Promise<void> {
  const objects = await helm.render({ name: "fo", namespace: "identity-system", values });
  const role = (suffix: string) =>
    objects.find(({ kind, metadata }) => kind === "ClusterRole" && metadata.name.endsWith(suffix));
  const rules = rulesOf(role("-manager"));
  await putClusterRole(MANAGER, rules);
  const shared = role("-gateway-wake");
  if (shared !== undefined) await putClusterRole(shared.metadata.name, rulesOf(shared));
  const onRoles = rules.some(({ resources = [] }) => resources.includes("roles"));
  await eventually(async () => expect(await mayDeleteRoles()).toBe(onRoles), PATIENCE);
}

/**
 * The authorizer observes a role a moment after it is stored. The values change only the manager's permission on Roles.
 */
async function mayDeleteRoles(): Promise<unknown> {
  const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  const resourceAttributes = { verb: "delete", group: "rbac.authorization.k8s.io", resource: "roles" };
  const body = { spec: { user: "system:serviceaccount:identity-system:manager", resourceAttributes } };
  return valueAt((await cluster.api.expect({ method: "POST", path, body })).body, ["status", "allowed"]);
}

/** The operator is restarted with other flags and, if given, other permissions. */
async function restart(rendering: InstanceOperatorOptions["rendering"], values?: Values): Promise<InstanceOperator> {
  await operator?.[Symbol.asyncDispose]();
  if (values !== undefined) await install(values);
  const started = await startInstanceOperator({
    kubeconfig,
    clock: fastClock(SPEED),
    rendering: { ...rendering, wakeAgent },
  });
  operator = started;
  return started;
}

async function instanceIsReady(ns: TestNamespace): Promise<void> {
  await eventually(async () => expect((await ns.instance()).status?.phase).toBe("Ready"), PATIENCE);
}

const roleRefOf = async (ns: TestNamespace): Promise<unknown> => {
  const binding = await ns.find("RoleBinding", GATEWAY);
  return `${valueAt(binding, ["roleRef", "kind"])}/${valueAt(binding, ["roleRef", "name"])}`;
};

/** What the gateway's own token may do with engines and endpoints: the statuses of listing both. */
async function permissions(ns: TestNamespace): Promise<readonly number[]> {
  const api = openApiFromKubeconfig(await cluster.serviceAccountKubeconfig(ns.name, GATEWAY));
  const listed = [
    `/apis/compute.firebolt.io/v1alpha1/namespaces/${ns.name}/fireboltengines`,
    `/apis/discovery.k8s.io/v1/namespaces/${ns.name}/endpointslices`,
  ];
  try {
    return await Promise.all(listed.map(async (path) => (await api.send({ path })).status));
  } finally {
    api.close();
  }
}

const willHave = (ns: TestNamespace, statuses: readonly number[]) =>
  eventually(async () => expect(await permissions(ns)).toEqual(statuses), PATIENCE);

async function rollouts(ns: TestNamespace): Promise<unknown> {
  return valueAt(await ns.get("Deployment", GATEWAY), ["metadata", "generation"]);
}

test("gateway-names: one instance through all modes and back, by an operator with the permissions that the chart gives for each", async () => {
  const ns = await cluster.namespace();
  await restart({}, {});
  await ns.createInstance();
  await instanceIsReady(ns);
  await willHave(ns, [200, 200]);
  const first = await rollouts(ns);

  await restart({ wakeMode: "demand" }, { wakeAgent: { mode: "demand" } });
  await willHave(ns, [403, 200]);
  await eventually(async () => expect(await rollouts(ns)).not.toBe(first), PATIENCE);
  const second = await rollouts(ns);

  // From here on the manager has no right on Roles.
  const shared = { gatewayWakeClusterRole: { create: true } };
  const inDemand = await restart(
    { wakeMode: "demand", gatewayClusterRole: SHARED },
    { ...shared, wakeAgent: { mode: "demand" } },
  );
  await eventually(async () => expect(await roleRefOf(ns)).toBe(`ClusterRole/${SHARED}`), PATIENCE);
  await willHave(ns, [403, 200]);
  // The binding is replaced before the Role that it no longer names.
  await eventually(() => expect(inDemand.log.join("\n")).toContain("unused object kept"), PATIENCE);
  expect(await ns.find("Role", GATEWAY)).toBeDefined();
  await instanceIsReady(ns);
  expect(await rollouts(ns)).toBe(second);

  await restart({ gatewayClusterRole: SHARED }, shared);
  await willHave(ns, [200, 200]);
  await eventually(async () => expect(await rollouts(ns)).not.toBe(second), PATIENCE);

  await restart({}, {});
  await eventually(async () => expect(await roleRefOf(ns)).toBe(`Role/${GATEWAY}`), PATIENCE);
  await willHave(ns, [200, 200]);
  await instanceIsReady(ns);
}, 300_000);

test("an operator that may removes the Role with the switch; deleting the instance needs no right on Roles", async () => {
  const ns = await cluster.namespace();
  const values = { gatewayWakeClusterRole: { create: true } };
  await restart({}, {});
  await ns.createInstance();
  await instanceIsReady(ns);
  // The shared role is there, and the manager still has the permissions of before.
  await install(values);
  await restart({ gatewayClusterRole: SHARED }, {});
  await eventually(async () => expect(await roleRefOf(ns)).toBe(`ClusterRole/${SHARED}`), PATIENCE);
  await eventually(async () => expect(await ns.find("Role", GATEWAY)).toBeUndefined(), PATIENCE);

  const { log } = await restart({ gatewayClusterRole: SHARED }, values);
  await ns.remove("FireboltInstance", "lakeside");
  await eventually(async () => expect(await ns.find("FireboltInstance", "lakeside")).toBeUndefined(), PATIENCE);
  expect(log.filter((line) => /forbidden/i.test(line))).toEqual([]);
}, 300_000);

test("an orphaned Role is deleted with its instance", async () => {
  const ns = await cluster.namespace();
  await restart({}, {});
  await ns.createInstance();
  await instanceIsReady(ns);
  await restart({ gatewayClusterRole: SHARED }, { gatewayWakeClusterRole: { create: true } });
  await eventually(async () => expect(await roleRefOf(ns)).toBe(`ClusterRole/${SHARED}`), PATIENCE);
  expect(await ns.find("Role", GATEWAY)).toBeDefined();
  await ns.remove("FireboltInstance", "lakeside");
  await eventually(async () => expect(await ns.names("Role")).toEqual([]), PATIENCE);
}, 300_000);

test.each([
  { name: "is not there", role: "nowhere", want: /RoleBinding lakeside-gateway: .*"nowhere" not found/ },
  {
    name: "grants more than the operator has",
    role: "too-much",
    want: /RoleBinding lakeside-gateway: .*attempting to grant RBAC permissions not currently held/,
  },
])(
  "a ClusterRole that $name: the condition reports it, and the running gateway keeps its permissions",
  async ({ role, want }) => {
    await putClusterRole("too-much", [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }]);
    const ns = await cluster.namespace();
    await restart({}, {});
    await ns.createInstance();
    await instanceIsReady(ns);
    await restart({ gatewayClusterRole: role }, { gatewayWakeClusterRole: { name: role } });
    await eventually(async () => {
      const ready = (await ns.instance()).status?.conditions?.find(({ type }) => type === "GatewayReady");
      expect(ready).toMatchObject({ status: "False", reason: "EnsureFailed", message: expect.stringMatching(want) });
    }, PATIENCE);
    expect(await roleRefOf(ns)).toBe(`Role/${GATEWAY}`);
    expect(await permissions(ns)).toEqual([200, 200]);
    // Once it is corrected, the operator continues automatically.
    await putClusterRole(
      role,
      rulesOf((await cluster.api.expect({ path: `${RBAC}/namespaces/${ns.name}/roles/${GATEWAY}` })).body),
    );
    await eventually(async () => expect(await roleRefOf(ns)).toBe(`ClusterRole/${role}`), PATIENCE);
    await instanceIsReady(ns);
  },
  300_000,
);

test("WakeOnZeroDisabled: reported once for a gateway with the user's account, and not again once the operator's account is restored", async () => {
  const ns = await cluster.namespace();
  await ns.create("ServiceAccount", { metadata: { name: "mine" } });
  const told = async () => {
    const { events, passes } = await restart({}, {});
    await eventually(() => passes.filter(({ instance }) => instance.namespace === ns.name).length >= 3, PATIENCE);
    return events.filter(({ reason }) => reason === "WakeOnZeroDisabled").map(({ type, note }) => `${type}: ${note}`);
  };
  const { events } = await restart({}, {});
  await ns.createInstance({ gateway: { template: { spec: { serviceAccountName: "mine" } } } });
  await instanceIsReady(ns);
  // Told at the end of the pass that has written the status.
  await eventually(
    () =>
      expect(events.filter(({ reason }) => reason === "WakeOnZeroDisabled")).toMatchObject([
        { type: "Warning", action: "Reconcile", note: expect.stringContaining("ServiceAccount mine") },
      ]),
    PATIENCE,
  );
  expect(await ns.names("Role")).toEqual([]);
  expect(await told()).toEqual([]);
  await ns.patch("FireboltInstance", "lakeside", { spec: { gateway: { template: null } } });
  await eventually(async () => expect(await roleRefOf(ns)).toBe(`Role/${GATEWAY}`), PATIENCE);
  // The status is written at the end of the pass that changed the binding: until then it describes the previous spec.
  const ready = await eventually(async () => {
    const { metadata, status } = await ns.instance();
    const found = status?.conditions?.find(({ type }) => type === "GatewayReady");
    expect(found?.observedGeneration).toBe(metadata?.generation);
    expect(status?.phase).toBe("Ready");
    return found;
  }, PATIENCE);
  expect(ready?.message).not.toContain("mine");
}, 300_000);
