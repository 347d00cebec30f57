// `uninstall` on a cluster with two operators: one for the whole cluster, and a private one for one namespace, both
// installed by Helm. What the command deletes, what it keeps, when it asks for confirmation, and its exit codes.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeObject } from "@firebolt-operator/kube";
import { createKubeClient, type KubeClient } from "@firebolt-operator/kube/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resolveAssets } from "../../dev/assets/resolver.ts";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../dev/control-plane/nodes.ts";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { KINDS } from "../../src/instance/cluster/kinds.ts";
import { eventually, requestAs } from "../harness/control-plane/requests.ts";
import { clusterConfig } from "../harness/control-plane/test-client.ts";
import { buildProgram, type OperatorProcess, startOperator } from "../harness/programs/operator-process.ts";
import { type PluginOptions, type PluginResult, runPlugin } from "../harness/programs/plugin-process.ts";
import { type RecordedProgram, recordProgram } from "./support/recorded-program.ts";

const CHARTS = join(import.meta.dirname, "../../charts");
const TEAMS = ["team-a", "team-b", "team-c"] as const;
const TYPES = [FireboltEngine, FireboltInstance, FireboltEngineClass];

let cluster: ControlPlane;
let client: KubeClient;
let operator: OperatorProcess;
let helm: RecordedProgram;
let home: string;

const plugin = (args: readonly string[], options: PluginOptions = {}): Promise<PluginResult> =>
  runPlugin([...args, `--kubeconfig=${cluster.adminKubeconfig}`], { ...options, env: { HELM: helm.file, HOME: home } });

/** Everything that must not change, with what would show that it does. */
async function inventory(): Promise<readonly string[]> {
  const lists = await Promise.all(
    TYPES.map(async (type) =>
      (await client.listAll<KubeObject>(type)).items.map((object) => ({ kind: type.kind, ...object })),
    ),
  );
  return lists
    .flat()
    .map(
      ({ kind, metadata }) =>
        `${metadata?.namespace}/${kind}/${metadata?.name}${metadata?.deletionTimestamp === undefined ? "" : " terminating"}`,
    )
    .sort();
}
const ofTeam = (team: string): readonly string[] => [
  `${team}/FireboltEngine/adhoc`,
  `${team}/FireboltEngineClass/large`,
  `${team}/FireboltInstance/lakeside`,
];
const operators = async (): Promise<readonly string[]> =>
  (await client.listAll(KINDS.Deployment, { labelSelector: "control-plane=controller-manager" })).items
    .map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)
    .sort();
const BOTH = ["firebolt-operator/firebolt-operator", "team-b/private-firebolt-operator"];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "plugin-uninstall-"));
  const components = ["kube-controller-manager", "kube-scheduler", "kwok"] as const;
  const [started, binaries] = await Promise.all([
    startControlPlane({ components }),
    resolveAssets(["helm"], { progress: (line) => process.stderr.write(`${line}\n`) }),
    buildProgram(),
  ]);
  cluster = started;
  helm = recordProgram(home, "helm", binaries.get("helm") ?? "");
  client = createKubeClient({ config: await clusterConfig(cluster.adminKubeconfig) });
  await addNodes(cluster.adminKubeconfig, { count: 1 });
  for (const name of TEAMS) {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    await requestAs(cluster.adminKubeconfig, { method: "POST", path: "/api/v1/namespaces", body });
  }
  const shared = await plugin([
    "install",
    "--charts",
    CHARTS,
    "--set",
    "webhook.enabled=false,watchLabelSelector=!example.com/private",
  ]);
  expect(shared.code, shared.stderr).toBe(0);
  const values = "webhook.enabled=false,metrics.secure=false,rbac.aggregateRoles=false,watchNamespaces={team-b}";
  execFileSync(
    binaries.get("helm") ?? "",
    [
      "install",
      "private",
      `${CHARTS}/firebolt-operator`,
      "--skip-crds",
      "--namespace=team-b",
      "--set",
      values,
      `--kubeconfig=${cluster.adminKubeconfig}`,
    ],
    { env: { HOME: home }, stdio: ["ignore", "ignore", "inherit"] },
  );
  // The chart's pods are simulated: this one does the work of both operators.
  operator = startOperator([`--kubeconfig=${cluster.adminKubeconfig}`, "--health-probe-bind-address=0"]);
  for (const namespace of TEAMS) {
    const labels = namespace === "team-b" ? { "example.com/private": "yes" } : {};
    const make = (type: (typeof TYPES)[number], name: string, spec: object) =>
      client.create<KubeObject>(type, { metadata: { name, namespace, labels }, ...{ spec } });
    await make(FireboltEngineClass, "large", { template: {} });
    await make(FireboltInstance, "lakeside", { metadata: {}, gateway: {} });
    await make(FireboltEngine, "adhoc", { instanceRef: "lakeside", replicas: 0 });
  }
  await eventually(async () => {
    const { items } = await client.listAll(FireboltEngine);
    expect(items.map(({ metadata }) => metadata?.finalizers?.length)).toEqual([1, 1, 1]);
  });
  helm.calls();
}, 600_000);

afterAll(async () => {
  client?.close();
  await operator?.[Symbol.asyncDispose]();
  await cluster?.stop();
  rmSync(home, { recursive: true, force: true });
});

describe("nothing is changed", () => {
  const ALL = TEAMS.flatMap(ofTeam).sort();
  const TEAM_A = ["uninstall", "-n", "team-a", "--delete-resources"];
  const PRIVATE = ["--operator-namespace", "team-b", "--release", "private"];
  test.each<{ name: string; args: readonly string[]; options?: PluginOptions; code: number; says: RegExp }>([
    {
      name: "without a terminal and --yes",
      args: TEAM_A,
      code: 4,
      says: /^error: nothing was changed: use --yes to confirm without a terminal\n$/,
    },
    {
      name: "with another reply",
      args: TEAM_A,
      options: { terminal: true, stdin: "no\n" },
      code: 4,
      says: /Type "yes" .*nothing was changed/s,
    },
    {
      name: "when the input ends",
      args: TEAM_A,
      options: { terminal: true },
      code: 4,
      says: /Type "yes" .*nothing was changed/s,
    },
    {
      name: "while objects are left",
      args: ["uninstall", "--yes"],
      code: 4,
      says: /1 FireboltEngine in team-a, 1 FireboltEngine in team-c, .*--delete-resources/s,
    },
    {
      name: "-n without --delete-resources",
      args: ["uninstall", "-n", "team-a", "--yes"],
      code: 2,
      says: /-n team-a limits --delete-resources, which was not given/,
    },
    {
      name: "-n with --crds",
      args: [...TEAM_A, "--crds", "--yes"],
      code: 2,
      says: /-n team-a and --crds contradict each other/,
    },
    {
      name: "-n that the release does not watch",
      args: [...TEAM_A, ...PRIVATE, "--yes"],
      code: 4,
      says: /team-b\/private does not watch namespace "team-a", but team-b\n/,
    },
    {
      name: "a release that is not there",
      args: [...TEAM_A, "--release", "typo", "--yes"],
      code: 4,
      says: /no operator of release firebolt-operator\/typo .*team-b\/private/s,
    },
    {
      name: "--crds while others need them",
      args: ["uninstall", "--delete-resources", "--crds", "--yes"],
      code: 4,
      says: /^error: --crds: .*1 FireboltEngine in team-b.*team-b\/private/s,
    },
    { name: "by --print-commands", args: [...TEAM_A, "--print-commands"], code: 0, says: /^$/ },
  ])("$name", async ({ args, options = {}, code, says }) => {
    const result = await plugin(args, options);
    expect(result.code, result.stderr).toBe(code);
    expect(options.terminal ? result.stdout : result.stderr).toMatch(says);
    expect(await inventory()).toEqual(ALL);
    expect(await operators()).toEqual(BOTH);
    expect(helm.calls()).toEqual([]);
  });

  test("the list and the printed commands name one namespace and its objects", async () => {
    const { stdout } = await plugin(TEAM_A);
    expect(stdout.slice(0, stdout.indexOf("The operator"))).toBe(
      [
        "This deletes:",
        "  FireboltEngine in team-a: adhoc",
        "  FireboltInstance in team-a: lakeside",
        "  FireboltEngineClass in team-a: large",
        "Deleting an instance also deletes its credentials and, with the built-in PostgreSQL, its catalogue.",
        "",
      ].join("\n"),
    );
    const printed = await plugin([...TEAM_A, "--print-commands"]);
    const lines = printed.stdout.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(lines.map((line) => line.replace(/--kubeconfig=\S+ /, ""))).toEqual([
      "kubectl delete -n team-a fireboltengines.compute.firebolt.io adhoc --ignore-not-found --timeout=300s",
      "kubectl delete -n team-a fireboltinstances.compute.firebolt.io lakeside --ignore-not-found --timeout=300s",
      "kubectl delete -n team-a fireboltengineclasses.compute.firebolt.io large --ignore-not-found --timeout=300s",
    ]);
  });
});

test("one namespace after a yes on the terminal: the others and both operators stay", async () => {
  const result = await plugin(["uninstall", "-n", "team-a", "--delete-resources"], { terminal: true, stdin: "yes\n" });
  expect(result.code, result.stdout).toBe(0);
  expect(result.stdout).toContain(" delete 1 FireboltInstance in team-a\r\n");
  expect(await inventory()).toEqual([...ofTeam("team-b"), ...ofTeam("team-c")]);
  expect(await operators()).toEqual(BOTH);
  expect(helm.calls()).toEqual([]);
  // The second time there is nothing to do, and no confirmation.
  expect(await plugin(["uninstall", "-n", "team-a", "--delete-resources"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^There is nothing to delete\.\nThe operator .* is kept, because it watches objects in other namespaces:\n.*team-c/,
    ),
  });
});

test("the shared operator is removed with the objects it watches, and nothing of the private one", async () => {
  const result = await plugin(["uninstall", "--delete-resources", "--yes"]);
  expect(result.code, result.stderr).toBe(0);
  expect(result.stdout).toMatch(/Kept, because .*\n {2}FireboltEngine in team-b: adhoc\n/);
  expect(await inventory()).toEqual(ofTeam("team-b"));
  expect(await operators()).toEqual(["team-b/private-firebolt-operator"]);
  expect(helm.calls().map(([verb, release]) => [verb, release])).toEqual([["uninstall", "firebolt-operator"]]);
});

test("the private one, and the definitions with the last", async () => {
  const result = await plugin([
    "uninstall",
    "--operator-namespace",
    "team-b",
    "--release",
    "private",
    "--delete-resources",
    "--crds",
    "--yes",
  ]);
  expect(result.code, result.stderr).toBe(0);
  expect(await operators()).toEqual([]);
  const { body } = await requestAs(cluster.adminKubeconfig, {
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  });
  expect(body).toMatchObject({ items: [] });
});
