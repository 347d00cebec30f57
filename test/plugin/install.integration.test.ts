// `install`, `quickstart` and `uninstall` with the real Helm and the project's own charts, on an API server that knows nothing of
// Firebolt before. The chart's pods are simulated, so the bundled operator runs beside them and does the work.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resolveAssets } from "../../dev/assets/resolver.ts";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../dev/control-plane/nodes.ts";
import { eventually, requestAs } from "../harness/control-plane/requests.ts";
import { type MetricsServer, startMetricsServer } from "../harness/pods/engine-metrics-server.ts";
import { buildProgram, startOperator } from "../harness/programs/operator-process.ts";
import { type PluginResult, runPlugin } from "../harness/programs/plugin-process.ts";
import { runScript } from "./support/plugin-harness.ts";
import { type RecordedProgram, recordProgram } from "./support/recorded-program.ts";

const CHARTS = join(import.meta.dirname, "../../charts");
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

let cluster: ControlPlane;
let metrics: MetricsServer;
let helm: RecordedProgram;
let kubectl: string;
let home: string;

const plugin = (...args: readonly string[]): Promise<PluginResult> =>
  runPlugin([...args, `--kubeconfig=${cluster.adminKubeconfig}`], { env: { HELM: helm.file, HOME: home } });
/** Runs what the plugin prints instead of the plugin. */
const script = async (...args: readonly string[]): Promise<PluginResult> => {
  const printed = await plugin(...args, "--print-commands");
  expect(printed, args.join(" ")).toMatchObject({ code: 0, stderr: "" });
  return runScript(printed.stdout, { folder: home, path: [helm.folder, join(kubectl, "..")] });
};
const get = async (path: string) => (await requestAs(cluster.adminKubeconfig, { path }, [404])).body;

const definitions = async (): Promise<readonly unknown[]> => {
  const items = valueAt(await get(CRDS), ["items"]);
  return Array.isArray(items) ? items.map((one) => valueAt(one, ["metadata", "name"])) : [];
};

beforeAll(async () => {
  metrics = await startMetricsServer();
  home = mkdtempSync(join(tmpdir(), "plugin-install-"));
  const components = ["kube-controller-manager", "kube-scheduler", "kwok"] as const;
  const [started, binaries] = await Promise.all([
    startControlPlane({ components }),
    resolveAssets(["helm", "kubectl"], { progress: (line) => process.stderr.write(`${line}\n`) }),
    buildProgram(),
  ]);
  cluster = started;
  helm = recordProgram(home, "helm", binaries.get("helm") ?? "");
  kubectl = binaries.get("kubectl") ?? "";
  await addNodes(cluster.adminKubeconfig, { count: 1 });
}, 600_000);

afterAll(async () => {
  await cluster?.stop();
  await metrics?.[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

test("before it is installed, commands report that", async () => {
  expect(await plugin("engine", "list")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the cluster has no resource type fireboltengines.compute.firebolt.io"),
  });
  expect(await plugin("install")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the location of the charts is missing"),
  });
});

test("install prints the helm commands, or runs them", async () => {
  const args = ["install", "--charts", CHARTS, "--set", "webhook.enabled=false"];
  const printed = await plugin(...args, "--print-commands");
  expect(printed.stdout.split("\n").filter((line) => line.startsWith("helm "))).toEqual([
    expect.stringMatching(
      /^helm upgrade --install .* firebolt-crds \S+\/firebolt-operator-crds --namespace firebolt-operator/,
    ),
    expect.stringMatching(
      /^helm upgrade --install .*--skip-crds firebolt-operator \S+\/firebolt-operator --set webhook\.enabled=false/,
    ),
  ]);
  expect(await definitions()).toEqual([]);
  expect(await plugin(...args, "-n", "team-a")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^error: install does not take -n: .*--operator-namespace/),
  });
  expect(helm.calls()).toEqual([]);
  const result = await plugin(...args);
  expect(result.code, result.stderr).toBe(0);
  expect(result.stdout).toMatch(/^✓ install the custom resource definitions\n✓ install the operator\nNext: /);
  expect(await definitions()).toHaveLength(3);
  expect(await get("/apis/apps/v1/namespaces/firebolt-operator/deployments")).toMatchObject({
    items: [{ status: { availableReplicas: expect.any(Number) } }],
  });
  expect((await plugin(...args)).code).toBe(0);
});

/** Somebody else's engine has the name that quickstart would use: it is named, and stays as it is. */
async function engineOfOthers(): Promise<void> {
  const objects = "/apis/compute.firebolt.io/v1alpha1/namespaces/others";
  const request = (method: "POST" | "DELETE", path: string, body?: object) =>
    requestAs(cluster.adminKubeconfig, { method, path, ...(body === undefined ? {} : { body }) });
  await request("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "others" } });
  await request("POST", `${objects}/fireboltengines?fieldManager=gitops`, {
    apiVersion: "compute.firebolt.io/v1alpha1",
    kind: "FireboltEngine",
    metadata: { name: "my-engine" },
    spec: { instanceRef: "quickstart", replicas: 0 },
  });
  expect(await plugin("quickstart", "--skip-install", "--bucket", "tables", "-n", "others")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /^error: FireboltEngine "my-engine" already exists in namespace "others", .*\n {2}\.spec\.replicas: conflict with "gitops".*\nname others with -n/,
    ),
  });
  expect(await get(`${objects}/fireboltengines/my-engine`)).toMatchObject({ spec: { replicas: 0 } });
  for (const path of [`${objects}/fireboltengines/my-engine`, `${objects}/fireboltinstances/quickstart`]) {
    await request("DELETE", path);
    await eventually(async () => expect(await get(path)).toMatchObject({ code: 404 }));
  }
}

test("quickstart ends with an engine that serves and a query command; uninstall fails, then removes everything", async () => {
  await using operator = startOperator([
    `--kubeconfig=${cluster.adminKubeconfig}`,
    "--health-probe-bind-address=0",
    "--drain-settle=0s",
  ]);
  expect(await plugin("quickstart", "--skip-install")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--bucket"),
  });
  await engineOfOthers();
  const started = await plugin("quickstart", "--skip-install", "--bucket", "tables", "-n", "demo");
  expect(started.code, `${started.stderr}${operator.stderr()}`).toBe(0);
  expect(started.stdout).toBe(
    `✓ namespace demo\n✓ instance quickstart is Ready\n✓ engine my-engine serves\n\nRun a query:\n  kubectl firebolt engine query my-engine 'SELECT 42' -n demo --kubeconfig=${cluster.adminKubeconfig}\n`,
  );
  expect((await plugin("engine", "list", "-n", "demo")).stdout).toContain("my-engine   quickstart   stable   true");

  expect(await plugin("uninstall")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/1 FireboltEngine in demo, 1 FireboltInstance in demo\n.*--delete-resources/),
  });
  const removed = await plugin("uninstall", "--delete-resources", "--crds", "--yes");
  expect(removed.code, removed.stderr).toBe(0);
  expect(removed.stdout).toBe(
    [
      "This deletes:",
      "  FireboltEngine in demo: my-engine",
      "  FireboltInstance in demo: quickstart",
      "  operator (Helm release firebolt-operator/firebolt-operator)",
      "  custom resource definitions of the whole cluster",
      "Deleting an instance also deletes its credentials and, with the built-in PostgreSQL, its catalogue.",
      "✓ delete 1 FireboltEngine in demo",
      "✓ delete 1 FireboltInstance in demo",
      "✓ remove the operator",
      "✓ remove the custom resource definitions",
      "",
    ].join("\n"),
  );
  expect(await definitions()).toEqual([]);
  expect(await get("/apis/apps/v1/namespaces/firebolt-operator/deployments")).toMatchObject({ items: [] });
  expect((await plugin("uninstall", "--crds", "--yes")).code).toBe(0);
});

test("the printed scripts install, start and remove the same, with the same calls of Helm", async () => {
  const deployments = () => get("/apis/apps/v1/namespaces/firebolt-operator/deployments");
  helm.calls();
  const install = ["install", "--charts", CHARTS, "--set", "webhook.enabled=false"];
  const installed = await script(...install);
  expect(installed.code, installed.stderr).toBe(0);
  const calls = helm.calls();
  expect(calls).toHaveLength(2);
  expect(await definitions()).toHaveLength(3);
  expect(await deployments()).toMatchObject({ items: [{ status: { availableReplicas: expect.any(Number) } }] });
  expect((await plugin(...install)).code).toBe(0);
  expect(helm.calls()).toEqual(calls);

  await using operator = startOperator([
    `--kubeconfig=${cluster.adminKubeconfig}`,
    "--health-probe-bind-address=0",
    "--drain-settle=0s",
  ]);
  const started = await script("quickstart", "--skip-install", "--bucket", "tables", "-n", "second");
  expect(started.code, `${started.stderr}${operator.stderr()}`).toBe(0);
  expect((await plugin("engine", "list", "-n", "second")).stdout).toContain("my-engine   quickstart   stable   true");
  // By the plugin there is nothing left to do: the same manager owns the same fields.
  const again = await plugin("quickstart", "--skip-install", "--bucket", "tables", "-n", "second");
  expect(again.code, again.stderr).toBe(0);
  const engine = await get("/apis/compute.firebolt.io/v1alpha1/namespaces/second/fireboltengines/my-engine");
  expect(valueAt(engine, ["metadata", "generation"])).toBe(1);

  // A command that would be rejected is not printed either.
  expect(await plugin("uninstall", "--print-commands")).toMatchObject({ code: 4, stdout: "" });
  const removed = await script("uninstall", "--delete-resources", "--crds");
  expect(removed.code, removed.stderr).toBe(0);
  expect(helm.calls().map(([verb, release]) => [verb, release])).toEqual([
    ["uninstall", "firebolt-operator"],
    ["uninstall", "firebolt-crds"],
  ]);
  expect(await definitions()).toEqual([]);
  expect(await deployments()).toMatchObject({ items: [] });
}, 300_000);
