// Every command of the plugin with wrong input: a mistyped name, flag or namespace, a missing argument, no kubeconfig, a server that
// cannot be reached, a user without permissions and one who may only read. Each ends with the documented exit code, a message that names
// what is wrong, and the way out where there is one.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeObject } from "@firebolt-operator/kube";
import { createKubeClient } from "@firebolt-operator/kube/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import type { Command } from "../../src/plugin/commands/command.ts";
import { COMMANDS } from "../../src/plugin/commands/command-table.ts";
import { requestAs } from "../harness/control-plane/requests.ts";
import { clusterConfig } from "../harness/control-plane/test-client.ts";
import { buildProgram } from "../harness/programs/operator-process.ts";
import { PLUGIN, type PluginResult, runPlugin } from "../harness/programs/plugin-process.ts";
import { runScript } from "./support/plugin-harness.ts";
import { addPluginUser, type Rule } from "./support/users.ts";

const NAMESPACE = "analytics";
const LIMIT = { timeout: 300_000 };
const folder = mkdtempSync(join(tmpdir(), "plugin-wrong-"));
const MANIFEST = join(folder, "engine.yaml");
const DEAD = join(folder, "dead.yaml");

let controlPlane: ControlPlane;
let admin = "";
let nobody = "";
let reader = "";

beforeAll(async () => {
  [controlPlane] = await Promise.all([
    startControlPlane({ components: [], crds: join(import.meta.dirname, "../../config/crd") }),
    buildProgram(),
  ]);
  admin = controlPlane.adminKubeconfig;
  nobody = await controlPlane.userKubeconfig("nobody");
  reader = await addPluginUser(controlPlane, "reader", [
    { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] },
  ]);
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  await requestAs(admin, { method: "POST", path: "/api/v1/namespaces", body });
  const client = createKubeClient({ config: await clusterConfig(admin) });
  const object = (name: string, spec: object) => ({ metadata: { name, namespace: NAMESPACE }, ...{ spec } });
  await client.create<KubeObject>(FireboltInstance, object("lakeside", { metadata: {}, gateway: {} }));
  await client.create<KubeObject>(FireboltEngineClass, object("large", { template: {} }));
  await client.create<KubeObject>(
    FireboltEngine,
    object("nightly", { instanceRef: "lakeside", replicas: 1, autoStop: { enabled: true, activeReplicas: 1 } }),
  );
  client.close();
  writeFileSync(
    MANIFEST,
    "apiVersion: compute.firebolt.io/v1alpha1\nkind: FireboltEngine\nmetadata: { name: nightly }\nspec: { instanceRef: lakeside, replicas: 2 }\n",
  );
  const server = "https://127.0.0.1:1";
  writeFileSync(
    DEAD,
    JSON.stringify({
      ...{ apiVersion: "v1", kind: "Config", "current-context": "dead" },
      clusters: [{ name: "dead", cluster: { server } }],
      users: [{ name: "dead", user: { token: "x" } }],
      contexts: [{ name: "dead", context: { cluster: "dead", user: "dead" } }],
    }),
  );
}, 300_000);
afterAll(async () => {
  await controlPlane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Names of the objects there are, by what an argument is. */
const NAMES: Readonly<Record<string, string>> = { engine: "nightly", instance: "lakeside", class: "large" };
/** The same, mistyped. */
const TYPOS: Readonly<Record<string, string>> = { engine: "nigthly", instance: "lakside", class: "larg" };
/** What a command needs beside its arguments, so that it gets as far as the cluster. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  plan: ["-f", MANIFEST],
  "engine create": ["--instance", "lakeside", "--bucket", "b"],
  "engine scale": ["--replicas", "2"],
  "support-bundle": ["--file", join(folder, "bundle.tar.gz")],
};
/** Helm has its own messages about clusters; completion contacts no cluster. */
const OFFLINE: ReadonlySet<string> = new Set(["install", "quickstart", "uninstall", "completion"]);

const nameOf = ({ words }: Command): string => words.join(" ");
const commands = COMMANDS.filter(({ hidden }) => hidden === undefined).map((command) => ({
  command,
  name: nameOf(command),
}));
const online = commands.filter(({ name }) => !OFFLINE.has(name));
const aboutObjects = online.filter(({ command }) => command.arguments?.[0]?.kind !== undefined);

function run(
  command: Command,
  {
    names = NAMES,
    flags = [],
    kubeconfig = admin,
  }: Partial<Record<"names", typeof NAMES>> & {
    readonly flags?: readonly string[];
    readonly kubeconfig?: string;
  } = {},
): Promise<PluginResult> {
  const args = (command.arguments ?? []).map(({ kind, name }) =>
    kind === undefined ? `some-${name}` : (names[kind] ?? ""),
  );
  const where = flags.includes("-n") ? [] : ["-n", NAMESPACE];
  return runPlugin([
    ...[...command.words, ...args, ...(FLAGS[nameOf(command)] ?? []), ...where, ...flags],
    ...(kubeconfig === "" ? [] : [`--kubeconfig=${kubeconfig}`]),
  ]);
}

test.each(aboutObjects)("$name: a mistyped name", LIMIT, async ({ command, name }) => {
  const result = await run(command, { names: TYPOS });
  const meant = NAMES[command.arguments?.[0]?.kind ?? ""];
  // Deleting what does not exist succeeds, but a typo must not go unnoticed.
  expect(result.code).toBe(name === "engine delete" ? 0 : 3);
  expect(`${result.stdout}${result.stderr}`).toMatch(
    new RegExp(`not found in namespace "?${NAMESPACE}"?.*did you mean "${meant}"\\?`),
  );
});

test.each(aboutObjects)("$name: the wrong namespace", LIMIT, async ({ command, name }) => {
  const result = await run(command, { flags: ["-n", "default"] });
  expect(result.code).toBe(name === "engine delete" ? 0 : 3);
  expect(`${result.stdout}${result.stderr}`).toMatch(/not found in namespace "?default"?.*analytics: use -n/);
});

test.each(commands)("$name: a mistyped flag", LIMIT, async ({ command }) => {
  const result = await run(command, { flags: ["--kubeconfg", admin] });
  expect(result).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(
      `^error: unknown flag --kubeconfg \\(did you mean "--kubeconfig"\\?\\): see kubectl firebolt ${nameOf(command)} --help\n$`,
    ),
  });
});

test.each(commands.filter(({ command }) => (command.arguments ?? []).some(({ optional }) => optional === undefined)))(
  "$name: a missing argument",
  LIMIT,
  async ({ command, name }) => {
    const result = await runPlugin([...command.words]);
    const usage = (command.arguments ?? []).map((argument) => argument.name.toUpperCase()).join(" ");
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(new RegExp(`^error: kubectl firebolt ${name} needs an? .*: .*${name} ${usage}\n$`));
  },
);

describe("clusters that cannot be used", () => {
  const expectFailure = (name: string, result: PluginResult, message: RegExp) => {
    // The plugin's own version needs no cluster.
    expect(result.code, result.stderr).toBe(name === "version" ? 0 : 1);
    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toContain("    at ");
  };

  test.each(online)("$name: no kubeconfig", LIMIT, async ({ command, name }) => {
    expectFailure(name, await run(command, { kubeconfig: "" }), /no cluster configuration/);
  });

  test.each(online)("$name: no server", LIMIT, async ({ command, name }) => {
    expectFailure(name, await run(command, { kubeconfig: DEAD }), /cannot reach the cluster: .*ECONNREFUSED/);
  });
});

test.each(online)("$name: a user without permissions", LIMIT, async ({ command, name }) => {
  const result = await run(command, { kubeconfig: nobody });
  if (name === "version") {
    expect(result).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/operator: {2}unknown.*\ncrds: {6}unknown/),
    });
    return;
  }
  expect(result.code, result.stderr).toBe(1);
  expect(result.stderr).toMatch(/^error: permission denied: .*User "nobody" cannot (?:get|list|delete) resource/m);
});

test("a user who may read nothing but Firebolt's own kinds sees them, and what is missing", LIMIT, async () => {
  const kubeconfig = await addPluginUser(controlPlane, "tenant", [
    { apiGroups: ["compute.firebolt.io"], resources: ["*"], verbs: ["get", "list", "watch"] },
  ]);
  for (const args of [["status"], ["engine", "status", "nightly"], ["instance", "status", "lakeside"]]) {
    const result = await runPlugin([...args, "-n", NAMESPACE, "--kubeconfig", kubeconfig]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout).toMatch(/you have no permission to list .*pods.*statefulsets: they are shown/);
    expect(result.stdout).toContain(args.includes("instance") ? "lakeside" : "nightly");
  }
});

/** The files of a bundle, by their path in it. */
function unpacked(file: string): ReadonlyMap<string, string> {
  const names = execFileSync("tar", ["tzf", file], { encoding: "utf8" }).trim().split("\n");
  return new Map(
    names.map((name) => [
      name.replace(/^[^/]*\//, ""),
      execFileSync("tar", ["xzOf", file, name], { encoding: "utf8" }),
    ]),
  );
}

describe("a support bundle of a user with restricted permissions", () => {
  const bundleOf = async (user: string, rules: readonly Rule[], args: readonly string[] = ["lakeside"]) => {
    const kubeconfig = await addPluginUser(controlPlane, user, rules);
    const file = join(folder, `${user}.tar.gz`);
    const result = await runPlugin([
      ...["support-bundle", ...args, "-n", NAMESPACE, "--file", file, "--kubeconfig", kubeconfig],
    ]);
    return { result, file };
  };
  const list = ["get", "list"];

  test(
    "Firebolt's own kinds alone: they are in it, and gaps.txt names the rest and the permissions",
    LIMIT,
    async () => {
      const own = [{ apiGroups: ["compute.firebolt.io"], resources: ["*"], verbs: list }];
      const { result, file } = await bundleOf("bundle-own", own, []);
      expect(result.code, result.stderr).toBe(7);
      expect(result.stdout).toMatch(/bundle-own\.tar\.gz: 2 objects/);
      expect(result.stderr).toMatch(/^warning: omitted: pods: permission denied: .*$/m);
      expect(result.stderr).toMatch(/warning: the bundle is incomplete: gaps\.txt .*permissions/);
      const files = unpacked(file);
      expect([...files.keys()]).toEqual(
        expect.arrayContaining([
          "objects/fireboltinstance/lakeside.yaml",
          "objects/fireboltengine/nightly.yaml",
          "status.txt",
        ]),
      );
      const gaps = files.get("gaps.txt") ?? "";
      for (const right of [
        "list pods in namespace analytics",
        "list pods in all namespaces",
        "list statefulsets.apps in namespace analytics",
        "list secrets in namespace analytics",
        "list nodes",
      ])
        expect(gaps).toContain(`; this needs permission to ${right}\n`);
      expect(gaps).toMatch(/^secrets \(so their values were not searched for in logs\): permission denied/m);
      expect(files.get("status.txt")).toMatch(/you have no permission to list .*pods/);
    },
  );

  test("engines without instances: everything but the instance, which was named", LIMIT, async () => {
    const engines = [
      { apiGroups: ["compute.firebolt.io"], resources: ["fireboltengines"], verbs: list },
      { apiGroups: ["", "apps"], resources: ["*"], verbs: list },
    ];
    const { result, file } = await bundleOf("bundle-engines", engines);
    expect(result.code, result.stderr).toBe(7);
    const files = unpacked(file);
    expect(files.has("objects/fireboltengine/nightly.yaml")).toBe(true);
    expect(files.get("gaps.txt")).toMatch(
      /^fireboltinstances\.compute\.firebolt\.io\/lakeside: permission denied: .*; this needs permission to get fireboltinstances\.compute\.firebolt\.io in namespace analytics$/m,
    );
    expect(files.get("status.txt")).toMatch(
      /you have no permission to list fireboltinstances[\s\S]*\(instance unknown\)[\s\S]*nightly/,
    );
  });

  test("instances without engines: the instance, and what carries its name", LIMIT, async () => {
    const instances = [{ apiGroups: ["compute.firebolt.io"], resources: ["fireboltinstances"], verbs: list }];
    const { result, file } = await bundleOf("bundle-instances", instances, []);
    expect(result.code, result.stderr).toBe(7);
    const files = unpacked(file);
    expect(files.has("objects/fireboltinstance/lakeside.yaml")).toBe(true);
    expect(files.get("gaps.txt")).toContain(
      "; this needs permission to list fireboltengines.compute.firebolt.io in namespace",
    );
    expect(files.get("status.txt")).toContain("lakeside");
  });

  test("without the permission to find the only instance, it has to be named", LIMIT, async () => {
    const pods = [{ apiGroups: [""], resources: ["pods"], verbs: list }];
    const { result } = await bundleOf("bundle-pods", pods, []);
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /permission denied: .*cannot list resource "fireboltinstances".*; pass the name of the instance instead: kubectl firebolt support-bundle INSTANCE -n analytics/,
      ),
    });
  });
});

test("an empty name deletes nothing: it would address all engines", LIMIT, async () => {
  const result = await runPlugin(["engine", "delete", "", "-n", NAMESPACE, "--kubeconfig", admin]);
  expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('"" is not a valid engine') });
  const { stdout } = await runPlugin(["engine", "list", "-o", "name", "-n", NAMESPACE, "--kubeconfig", admin]);
  expect(stdout).toBe("fireboltengine/nightly\n");
});

test("a closed stderr does not change the exit code", LIMIT, async () => {
  const call = `${process.execPath} ${PLUGIN} engine status nope -n ${NAMESPACE} --kubeconfig ${admin}`;
  const script = `exec 3>&1; { (sleep 0.5; exec ${call}) 2>&1 >/dev/null || echo $? >&3; } | true`;
  expect((await runScript(script, { folder, path: [] })).stdout).toBe("3\n");
});

test.each(["create", "delete", "scale", "stop", "restart", "wake"])(
  "engine %s: a user who may only read",
  LIMIT,
  async (verb) => {
    const command = COMMANDS.find(({ words }) => words.join(" ") === `engine ${verb}`);
    if (command === undefined) throw new Error(`there is no command engine ${verb}`);
    const result = await run(command, { kubeconfig: reader });
    expect(result.code, result.stderr).toBe(1);
    expect(result.stderr).toMatch(
      /error: permission denied: .*User "reader" cannot (?:create|patch|delete) resource "fireboltengines"/,
    );
  },
);
