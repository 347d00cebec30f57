// --print-commands, for every command there is: printing changes nothing, and the printed script, run by
// a shell against the real API server, does what the command does. Commands of Helm are in install.integration.test.ts.
import type { KubeObject } from "@firebolt-operator/kube";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { COMMANDS } from "../../src/plugin/commands/command-table.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { type PluginResult, runPlugin } from "../harness/programs/plugin-process.ts";
import { NAMESPACE } from "./support/plugin-cluster.ts";
import { openPluginHarness, type PluginHarness } from "./support/plugin-harness.ts";
import { type RecordedProgram, recordProgram } from "./support/recorded-program.ts";
import { addPluginUser } from "./support/users.ts";

let harness: PluginHarness;
/** Of a user who may read everything and write nothing. */
let reader: string;
let kubectl: RecordedProgram;
const CREATE = ["engine", "create", "--instance", "lakeside", "--bucket", "tables", "--timeout", "120s"];

beforeAll(async () => {
  harness = await openPluginHarness();
  reader = await addPluginUser(harness.cluster.controlPlane, "reader", [
    { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] },
  ]);
  kubectl = recordProgram(harness.folder, "kubectl", harness.cluster.kubectl);
  // The class of the examples requires nodes that do not exist.
  await harness.cluster.client.create<KubeObject>(FireboltEngineClass, {
    metadata: { name: "plain", namespace: NAMESPACE },
    ...{ spec: { template: {} } },
  });
  await harness.cluster.plugin([...CREATE, "adhoc", "--replicas", "2"]);
  await harness.cluster.client.create<KubeObject>(FireboltEngine, {
    metadata: { name: "stuck", namespace: NAMESPACE },
    ...{ spec: { instanceRef: "nowhere", replicas: 1 } },
  });
  await harness.cluster.rested("adhoc");
  harness.kubelet.say("engine", "2026-01-01T00:00:00Z", ["starting", "ready"]);
  harness.kubelet.say("metadata", "2026-01-01T00:00:00Z", ["catalog open"]);
}, 300_000);
afterAll(() => harness?.[Symbol.asyncDispose]());

/** Whatever the command would change, printing it must be possible without the permission to. */
async function print(args: readonly string[]): Promise<string> {
  const result = await runPlugin([...args, "--print-commands", `--kubeconfig=${reader}`, "-n", NAMESPACE]);
  expect(result, args.join(" ")).toMatchObject({ code: 0, stderr: "" });
  expect(result.stdout).toMatch(/^# .+\n/);
  return result.stdout;
}

const asAdministrator = (script: string): string =>
  script.replaceAll(reader, harness.cluster.controlPlane.adminKubeconfig);

interface Change {
  readonly args: (name: string) => readonly string[];
  /** How the engine must be when the command, or the script, has ended. */
  readonly ends?: { readonly phase: string };
  readonly gone?: true;
  /** Only an engine that auto-stop looks after can be woken. */
  readonly autoStop?: true;
}

/** In order: each starts where the one before ended. */
const CHANGES: readonly (readonly [string, Change])[] = [
  [
    "engine create",
    {
      args: (name) => [
        ...["engine", "create", name, "--instance", "lakeside", "--replicas", "1", "--image", "example.com/e:1"],
        ...["--host-path", "/mnt/it's", "--bucket", "b b", "--type", "plain", "--storage-type", "gcs"],
        ...["--timeout", "120s"],
      ],
      ends: { phase: "stable" },
    },
  ],
  [
    "engine scale",
    {
      args: (name) => ["engine", "scale", name, "--replicas", "2", "--wait", "--timeout", "120s"],
      ends: { phase: "stable" },
    },
  ],
  ["engine restart", { args: (name) => ["engine", "restart", name, "--wait"], ends: { phase: "stable" } }],
  ["engine stop", { args: (name) => ["engine", "stop", name, "--wait"], ends: { phase: "stopped" } }],
  ["engine start", { args: (name) => ["engine", "start", name, "--wait"], ends: { phase: "stable" } }],
  ["engine wake", { args: (name) => ["engine", "wake", name], autoStop: true }],
  ["engine delete", { args: (name) => ["engine", "delete", name], gone: true }],
];

/** The result of a command, without what differs between two engines and without the operator's own fields. */
function left({ metadata, spec }: FireboltEngine): object {
  const managers = (metadata?.managedFields ?? [])
    .filter(({ manager }) => manager !== "firebolt-operator")
    .map(({ manager, operation, fieldsV1 }) => ({ manager, operation, fieldsV1 }));
  const text = JSON.stringify({ annotations: metadata?.annotations, labels: metadata?.labels, spec, managers });
  return JSON.parse(text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>")) as object;
}

describe("changes: twins, one changed by the plugin and one by its script, stay alike", () => {
  test.each(CHANGES)("%s", { timeout: 300_000 }, async (_, { args, ends, gone, autoStop }) => {
    const find = (name: string) => harness.cluster.client.find(FireboltEngine, { namespace: NAMESPACE, name });
    for (const name of autoStop === true ? ["by-script", "by-plugin"] : []) {
      const body = { spec: { autoStop: { enabled: true, activeReplicas: 2, pollInterval: "1h" } } };
      await harness.cluster.client.patch(FireboltEngine, { namespace: NAMESPACE, name }, { type: "merge", body });
      // After auto-stop's first evaluation it is idle for an hour.
      await eventually(async () =>
        expect([undefined, "Disabled"]).not.toContain((await find(name))?.status?.autoStopReason),
      );
      await harness.cluster.rested(name);
    }
    const before = await find("by-script");
    const script = asAdministrator(await print(args("by-script")));
    expect((await find("by-script"))?.metadata?.resourceVersion).toBe(before?.metadata?.resourceVersion);
    const byScript = await harness.shell(script);
    expect(byScript.code, `${script}${byScript.stderr}`).toBe(0);
    const scripted = await find("by-script");
    const byPlugin = await harness.cluster.plugin(args("by-plugin"));
    expect(byPlugin.code, byPlugin.stderr).toBe(0);
    const plugged = await find("by-plugin");
    if (gone === true) {
      expect([scripted, plugged]).toEqual([undefined, undefined]);
      return;
    }
    if (scripted === undefined || plugged === undefined) throw new Error("an engine is missing");
    expect(left(scripted)).toEqual(left(plugged));
    for (const { status, metadata } of ends === undefined ? [] : [scripted, plugged])
      expect(status).toMatchObject({ ...ends, observedGeneration: metadata?.generation });
  });

  test("what is so already is not changed by the script either", async () => {
    expect(await print(["engine", "scale", "adhoc", "--replicas", "2"])).toBe(
      "# fireboltengine/adhoc already has 2 replicas: there is nothing to do\n",
    );
  });

  test("flags of a deletion: not to wait, and how long", async () => {
    const line = async (...flags: readonly string[]) =>
      (await print(["engine", "delete", "e", ...flags])).split("\n")[1];
    const [start, end] = [
      `kubectl --kubeconfig=${reader} delete -n ${NAMESPACE} fireboltengine e`,
      "--ignore-not-found",
    ];
    expect(await line()).toBe(`${start} ${end}`);
    expect(await line("--wait=false")).toBe(`${start} ${end} --wait=false`);
    expect(await line("--timeout", "90s")).toBe(`${start} ${end} --timeout=90s`);
  });
});

type Same = (plugin: PluginResult, script: PluginResult) => void;

/** kubectl leaves out who manages which field. */
function itemsOf({ stdout }: PluginResult): readonly object[] {
  const { items } = JSON.parse(stdout) as { readonly items: readonly KubeObject[] };
  return items.map(({ metadata: { managedFields: _, ...metadata } = {}, ...rest }) => ({ ...rest, metadata }));
}

const sameItems: Same = (plugin, script) => expect(itemsOf(script)).toEqual(itemsOf(plugin));
const sameExit: Same = (plugin, script) => expect(script.code === 0).toBe(plugin.code === 0);
const names =
  (...wanted: readonly string[]): Same =>
  (plugin, script) => {
    for (const name of wanted)
      expect([plugin.stdout, script.stdout]).toEqual(Array(2).fill(expect.stringContaining(name)));
  };
/** Each marks the source of a line differently. */
const sameLines: Same = (plugin, script) => {
  const lines = ({ stdout }: PluginResult) =>
    stdout
      .trim()
      .split("\n")
      .map((line) => line.replace(/^(\[[^\]]*\]|\S+(?= {2}))\s+/, ""))
      .toSorted();
  expect(lines(script)).toEqual(lines(plugin));
};
const sameClass: Same = (plugin, script) => {
  const [stored = ""] = script.stdout.split(/^(?=\{)/m);
  const { metadata: { managedFields: _, ...metadata } = {}, ...rest } = (
    parse(plugin.stdout) as { readonly class: KubeObject }
  ).class;
  expect(parse(stored)).toEqual({ ...rest, metadata });
};

interface Look {
  readonly args: readonly string[];
  /** Added for the plugin, so that its response can be compared. */
  readonly format?: readonly string[];
  readonly same: Same;
}

const LOOKS: readonly (readonly [string, Look])[] = [
  ["engine list", { args: ["engine", "list"], format: ["-o", "json"], same: sameItems }],
  ["instance list", { args: ["instance", "list"], format: ["-o", "json"], same: sameItems }],
  ["class list", { args: ["class", "list", "-A"], format: ["-o", "json"], same: sameItems }],
  ["status", { args: ["status"], same: names("lakeside", "adhoc", "adhoc-g0-0", "adhoc-g0-1") }],
  ["status", { args: ["status", "--gateways"], same: names("lakeside-gateway-", "adhoc-g0-0") }],
  ["version", { args: ["version"], same: names("fireboltengines.compute.firebolt.io") }],
  ["engine status", { args: ["engine", "status", "adhoc"], same: names("EngineReady", "adhoc", "lakeside") }],
  ["instance status", { args: ["instance", "status", "lakeside"], same: names("AllComponentsReady", "lakeside") }],
  ["rollout status", { args: ["rollout", "status", "adhoc"], same: sameExit }],
  ["rollout status", { args: ["rollout", "status", "stuck"], same: sameExit }],
  ["engine logs", { args: ["engine", "logs", "adhoc", "--timestamps"], same: sameLines }],
  ["engine logs", { args: ["engine", "logs", "adhoc", "--tail", "1", "-c", "engine"], same: sameLines }],
  ["instance logs", { args: ["instance", "logs", "lakeside", "--component", "metadata"], same: sameLines }],
  ["class show", { args: ["class", "show", "accel-large"], format: ["-o", "yaml"], same: sameClass }],
];

describe("read-only commands: plugin and script print the same, and need no write permission", () => {
  test.each(LOOKS)("%s %#", { timeout: 300_000 }, async (_, { args, format = [], same }) => {
    const script = await print(args);
    // The objects that are read must be at rest.
    await eventually(
      async () => {
        const plugin = await runPlugin([...args, ...format, `--kubeconfig=${reader}`, "-n", NAMESPACE]);
        same(plugin, await harness.shell(script));
      },
      { timeoutMs: 200_000 },
    );
  });
});

test("plan: the script sends the API server the same dry run, and nothing is written", async () => {
  // The engine of the example is there, with two nodes instead of one.
  const args = ["plan", "-f", "examples/engine-minimal.yaml"];
  const { metadata } = await harness.engineOf("adhoc");
  const byScript = await harness.shell(asAdministrator(await print(args)));
  expect(byScript.stdout).toContain("fireboltengine.compute.firebolt.io/adhoc configured (server dry run)\n");
  const byPlugin = await harness.cluster.plugin(args);
  expect(byPlugin).toMatchObject({ code: 0, stdout: expect.stringContaining("spec.replicas") });
  expect((await harness.engineOf("adhoc")).metadata?.generation).toBe(metadata?.generation);
});

/** The words of every kubectl line as a shell reads them: kubectl is called with them, but only to explain itself. */
async function announced(script: string): Promise<readonly (readonly string[])[]> {
  const lines = script.split("\n").filter((line) => line.startsWith("kubectl "));
  const harmless = lines.map((line) => `${line.replace(/ >\/dev\/null &$/, "")} --help >/dev/null\n`).join("");
  expect(await harness.shell(harmless, [kubectl.folder])).toMatchObject({ code: 0, stderr: "" });
  return kubectl.calls().map((call) => call.slice(0, -1));
}

describe("ports: the plugin starts kubectl exactly as it is printed", () => {
  test.each([
    ["instance port-forward", ["instance", "port-forward", "lakeside"]],
    ["engine port-forward", ["engine", "port-forward", "adhoc", "--local-port", "18473"]],
  ])("%s", { timeout: 300_000 }, async (_, args) => {
    const wanted = await announced(await print(args));
    const env = { KUBECTL: kubectl.file };
    // Port forwarding needs a separate permission, which a read-only user lacks: only the request is compared.
    const refused = await runPlugin([...args, `--kubeconfig=${reader}`, "-n", NAMESPACE], { env });
    expect(refused.stderr).toContain("forbidden");
    expect(kubectl.calls()).toEqual(wanted);
  });

  test("engine query: the script queries the engine and prints its response", { timeout: 300_000 }, async () => {
    const args = ["engine", "query", "adhoc", "SELECT 'it''s' || $1", "--local-port", "18474"];
    const script = asAdministrator(await print(args));
    const [forward] = await announced(script);
    const byScript = await harness.shell(script);
    const where = [`--kubeconfig=${harness.cluster.controlPlane.adminKubeconfig}`, "-n", NAMESPACE];
    const byPlugin = await runPlugin([...args, ...where], { env: { KUBECTL: kubectl.file } });
    expect(byScript).toMatchObject({ code: 0, stdout: byPlugin.stdout });
    expect(byPlugin.stdout).toBe("adhoc: SELECT 'it''s' || $1\n");
    expect(kubectl.calls()).toEqual([forward]);
  });
});

test("a support bundle is not a list of commands, and the message says so", async () => {
  expect(await harness.cluster.plugin(["support-bundle", "--print-commands"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("--print-commands is not available for support-bundle"),
  });
});

test("completion contacts no cluster, with or without it", async () => {
  const args = ["completion", "bash", "--kubeconfig=/nowhere"];
  expect(await runPlugin([...args, "--print-commands"])).toEqual(await runPlugin(args));
});

test("every command of the plugin is in one of these tables, or in those of Helm", () => {
  const covered = new Set([
    ...CHANGES.map(([name]) => name),
    ...LOOKS.map(([name]) => name),
    ...["plan", "instance port-forward", "engine port-forward", "engine query", "support-bundle", "completion"],
    ...["install", "quickstart", "uninstall"],
  ]);
  const all = COMMANDS.filter(({ hidden }) => hidden === undefined).map(({ words }) => words.join(" "));
  expect(all.filter((name) => !covered.has(name))).toEqual([]);
});
