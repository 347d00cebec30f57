// The operator as the chart installs it: the bundled program with exactly the chart's arguments, service account and rules, on an API
// server with RBAC and an audit log. No request is forbidden, and no rule is there that nothing needed.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api, openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../dev/control-plane/nodes.ts";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { engine, instance } from "../harness/fixtures/manifests.ts";
import { managerArgs } from "../harness/helm/chart-flags.ts";
import { type Helm, openHelm, type RenderedObject, type Values } from "../harness/helm/helm.ts";
import { type AuditedRequest, type AuditLog, openAuditLog } from "../harness/helm/rbac-audit.ts";
import { type Grant, grantsOf, type Need, needsOf, uncoveredNeeds, unusedGrants } from "../harness/helm/rbac-grants.ts";
import { type MetricsServer, startMetricsServer } from "../harness/pods/engine-metrics-server.ts";
import { startDemandServer } from "../harness/pods/wake-demand-server.ts";
import { buildProgram, type OperatorProcess, startOperator } from "../harness/programs/operator-process.ts";
import { openScenario, type ScenarioOptions, SLEEPER } from "./support/rbac-scenario.ts";
import { scrapersAreChecked } from "./support/rbac-scraper.ts";

const CRDS = join(import.meta.dirname, "../../config/crd");
const RELEASE = "firebolt-operator";

let folder: string;
let audit: AuditLog;
let cluster: ControlPlane;
let api: Api;
let helm: Helm;
let metrics: MetricsServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rbac-"));
  audit = openAuditLog(folder);
  const control = startControlPlane({
    components: ["kube-controller-manager", "kube-scheduler", "kwok"],
    crds: CRDS,
    apiServerArgs: [
      ...audit.apiServerArgs,
      // Some distributions switch it on: owner references then need permissions of their own.
      "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
      // As on older servers: caches begin with a list.
      "--feature-gates=WatchList=false",
    ],
  });
  [cluster, helm, metrics] = await Promise.all([control, openHelm(), startMetricsServer(), buildProgram()]);
  api = openApiFromKubeconfig(cluster.adminKubeconfig);
  await addNodes(cluster.adminKubeconfig, { count: 2 });
}, 300_000);

afterAll(async () => {
  api?.close();
  await metrics?.[Symbol.asyncDispose]();
  await helm?.[Symbol.asyncDispose]();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Installed extends AsyncDisposable {
  readonly grants: readonly Grant[];
  readonly account: string;
  readonly operator: OperatorProcess;
}

/** Installs the release with the real Helm and runs the program as its Deployment would. */
async function install(namespace: string, values: Values): Promise<Installed> {
  const release = { name: RELEASE, namespace, values, args: ["--skip-crds"] };
  await helm.install(release, cluster.adminKubeconfig);
  const objects: readonly RenderedObject[] = await helm.render(release);
  const kubeconfig = await cluster.serviceAccountKubeconfig(namespace, RELEASE);
  const grants = grantsOf(objects, RELEASE);
  const account = `system:serviceaccount:${namespace}:${RELEASE}`;
  await inForce(account, grants);
  const operator = startOperator([
    ...managerArgs(objects),
    // What a pod knows from its service account's files.
    `--kubeconfig=${kubeconfig}`,
    `--leader-election-namespace=${namespace}`,
    // Nobody queries these engines.
    "--drain-settle=0s",
  ]);
  return {
    grants,
    account,
    operator,
    async [Symbol.asyncDispose]() {
      await operator[Symbol.asyncDispose]();
      await helm.expect(["uninstall", RELEASE, `--namespace=${namespace}`, `--kubeconfig=${cluster.adminKubeconfig}`]);
    },
  };
}

/** The API server observes roles through its own watches: wait for a grant of each role, in each of its namespaces. */
async function inForce(user: string, grants: readonly Grant[]): Promise<void> {
  const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  const ofRoles = new Map(grants.map((grant) => [grant.role, grant])).values();
  for (const { verb, group, resource, names, namespaces } of ofRoles)
    for (const namespace of namespaces.length === 0 ? [undefined] : namespaces) {
      const [name] = names;
      const [plain, subresource] = resource.split("/");
      const resourceAttributes = { verb, group, resource: plain, subresource, name, namespace };
      await eventually(
        async () => {
          const { body } = await api.expect({ method: "POST", path, body: { spec: { user, resourceAttributes } } });
          expect(valueAt(body, ["status", "allowed"]), JSON.stringify(resourceAttributes)).toBe(true);
        },
        { describe: "permissions in force" },
      );
    }
}

async function untilReady(operator: OperatorProcess): Promise<void> {
  await eventually(
    async () => {
      const answer = await fetch("http://127.0.0.1:8081/readyz", { signal: AbortSignal.timeout(60_000) });
      expect(answer.status, operator.stderr()).toBe(200);
    },
    { timeoutMs: 150_000 },
  );
}

interface Life extends ScenarioOptions {
  /** A client requests a stopped engine: gateways expose the demand, and the manager polls them. */
  readonly demand?: boolean;
}

/** The whole lifecycle in one namespace; returns the permissions that follow from the manager's own objects. */
async function live(namespace: string, account: string, life: Life = {}): Promise<readonly Need[]> {
  const scenario = openScenario(api, namespace, life);
  const isLook = ({ verb, resource, namespace: where }: AuditedRequest) =>
    verb === "get" && resource === "fireboltinstances" && where === namespace;
  await scenario.create();
  await scenario.roll();
  await scenario.giveUp();
  await scenario.stopAndStart();
  if (life.demand === true) await scenario.wake();
  await scenario.orphan();
  await scenario.damage();
  const isClaimLook = ({ verb, resource, namespace: where }: AuditedRequest) =>
    verb === "get" && resource === "persistentvolumeclaims" && where === namespace;
  await scenario.reshape(() => audit.requestsOf(account).some(isClaimLook));
  await scenario.contend(() => audit.requestsOf(account).some(isLook));
  const needs = await scenario.needsOfChildren();
  await scenario.remove();
  return needs;
}

/** The API server trusts the manager's certificate, also after another client has corrupted the CA bundle. */
async function admissionWorks(system: string, namespace: string): Promise<void> {
  const path = `/apis/compute.firebolt.io/v1alpha1/namespaces/${namespace}/fireboltengines?dryRun=All`;
  const body = engine({ name: "refused", namespace, engineClassRef: "nowhere" });
  const refused = () =>
    eventually(
      async () => {
        const answer = await api.send({ method: "POST", path, body });
        expect([answer.status, JSON.stringify(answer.body)]).toEqual([403, expect.stringContaining("nowhere")]);
      },
      { timeoutMs: 150_000 },
    );
  await refused();
  const secret = `/api/v1/namespaces/${system}/secrets/${RELEASE}-webhook-cert`;
  const before = (await api.expect({ path: secret })).body;
  const spoilt = { data: { "tls.crt": Buffer.from("nonsense").toString("base64") } };
  await api.expect({ method: "PATCH", path: secret, body: spoilt, contentType: "application/merge-patch+json" });
  await eventually(async () => {
    const certificate = valueAt((await api.expect({ path: secret })).body, ["data", "tls.crt"]);
    expect([spoilt.data["tls.crt"], valueAt(before, ["data", "tls.crt"])]).not.toContain(certificate);
  });
  await refused();
}

const withoutPrefix = (text: string): string => text.replace(/^\w+\/firebolt-operator-/, "");

function verdict(installed: Installed, needs: readonly Need[]) {
  const requests = audit.requestsOf(installed.account);
  const all = [...needsOf(requests), ...needs];
  const unused = unusedGrants(installed.grants, all).map(withoutPrefix);
  const forbidden = requests.filter((request) => request.forbidden);
  const missing = uncoveredNeeds(installed.grants, all);
  console.log(
    `${installed.grants.length} grants, ${requests.length} requests: ${forbidden.length} forbidden, ` +
      `${missing.length} not covered, ${unused.length} unused`,
  );
  return { requests, unused, forbidden, missing };
}

describe("for the whole cluster", () => {
  test("nothing is forbidden and nothing is granted in vain", async () => {
    const system = await createNamespace("system", cluster.adminKubeconfig);
    const namespace = await createNamespace("life", cluster.adminKubeconfig);
    await using installed = await install(system, { metrics: { secure: true }, webhook: { enabled: true } });
    await untilReady(installed.operator);
    await admissionWorks(system, namespace);
    await scrapersAreChecked(cluster, api, system);
    const needs = await live(namespace, installed.account);
    const { unused, forbidden, missing } = verdict(installed, needs);
    expect(forbidden).toEqual([]);
    expect(missing).toEqual([]);
    expect(unused).toEqual([]);
    expect(installed.operator.log().filter(({ level }) => level === "error")).toEqual([]);
  }, 600_000);
});

describe("for the whole cluster, with gateways that only show demand and share a ClusterRole", () => {
  test("nothing is forbidden, nothing is granted in vain, and there is no right on Roles", async () => {
    const system = await createNamespace("system", cluster.adminKubeconfig);
    const namespace = await createNamespace("life", cluster.adminKubeconfig);
    await using _gateways = await startDemandServer(SLEEPER);
    await using installed = await install(system, {
      wakeAgent: { mode: "demand" },
      gatewayWakeClusterRole: { create: true },
      metrics: { secure: false },
      webhook: { enabled: false },
    });
    await untilReady(installed.operator);
    const needs = await live(namespace, installed.account, { roles: false, demand: true });
    const { requests, unused, forbidden, missing } = verdict(installed, needs);
    expect(forbidden).toEqual([]);
    expect(missing).toEqual([]);
    expect(unused).toEqual([]);
    expect(installed.grants.filter(({ resource }) => resource === "roles")).toEqual([]);
    expect(requests.filter(({ path }) => path.includes(":9903/proxy/demand")).length).toBeGreaterThan(0);
    expect(installed.operator.log().filter(({ level }) => level === "error")).toEqual([]);
  }, 600_000);
});

describe("for two namespaces", () => {
  test("Roles suffice, nothing is granted in vain, and nothing outside is touched", async () => {
    const [system = "", ...watched] = await Promise.all(
      ["system", "tenant-a", "tenant-b"].map((prefix) => createNamespace(prefix, cluster.adminKubeconfig)),
    );
    const outside = await createNamespace("outside", cluster.adminKubeconfig);
    await using installed = await install(system, {
      watchNamespaces: watched,
      metrics: { secure: false },
      webhook: { enabled: false },
    });
    await untilReady(installed.operator);
    const path = `/apis/compute.firebolt.io/v1alpha1/namespaces/${outside}/fireboltinstances`;
    await api.expect({ method: "POST", path, body: instance({ name: "main", namespace: outside }) });
    const needs = (await Promise.all(watched.map((namespace) => live(namespace, installed.account)))).flat();
    const { requests, unused, forbidden, missing } = verdict(installed, needs);
    expect(forbidden).toEqual([]);
    expect(missing).toEqual([]);
    expect(unused).toEqual([]);
    const touched = new Set(requests.filter(({ resource }) => resource !== "").map(({ namespace }) => namespace));
    expect([...touched].sort()).toEqual([system, ...watched].sort());
    expect((await api.expect({ path: `${path}/main` })).body).not.toHaveProperty("metadata.finalizers");
  }, 600_000);
});

describe("the comparison itself", () => {
  const grant = { group: "apps", resource: "deployments", names: [], namespaces: ["a"], role: "Role/r" };
  const need = { group: "apps", resource: "deployments", namespace: "a", name: "x" };

  test.each([
    {
      name: "an unused verb",
      grants: ["get", "delete"],
      needs: ["get"],
      unused: ["Role/r: delete deployments.apps"],
    },
    {
      name: "a verb that is missing",
      grants: ["get"],
      needs: ["get", "list"],
      missing: ['list deployments.apps in "a"'],
    },
    { name: "all as it should be", grants: ["get", "list"], needs: ["list", "get"] },
  ])("finds $name", ({ grants, needs, unused = [], missing = [] }) => {
    const granted = grants.map((verb) => ({ ...grant, verb }));
    const needed = needs.map((verb) => ({ ...need, verb }));
    expect(unusedGrants(granted, needed)).toEqual(unused);
    expect(uncoveredNeeds(granted, needed)).toEqual(missing);
  });

  test("a grant for one name or namespace is not used by another", () => {
    const named = { ...grant, verb: "get", names: ["y"] };
    expect(unusedGrants([named], [{ ...need, verb: "get" }])).toHaveLength(1);
    expect(uncoveredNeeds([{ ...grant, verb: "get" }], [{ ...need, verb: "get", namespace: "b" }])).toHaveLength(1);
  });

  test("an apply that makes its object needs create, and a watch of one name is one of that name", () => {
    const request = { group: "", resource: "configmaps", namespace: "a", name: "x", forbidden: false };
    const applied = { ...request, verb: "patch", status: 201, path: "/api/v1/namespaces/a/configmaps/x" };
    const watched = { ...request, verb: "watch", status: 200, name: "", path: "/a?fieldSelector=metadata.name%3Dx" };
    expect(needsOf([applied]).map(({ verb }) => verb)).toEqual(["patch", "create"]);
    expect(needsOf([watched])).toMatchObject([{ verb: "watch", name: "x" }]);
  });
});
