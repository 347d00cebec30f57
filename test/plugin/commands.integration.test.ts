// The plugin as a process against a real control plane with the operator at work: every read-only command, its output
// and exit code, and its message for what does not exist, is ambiguous or is not allowed.
import { execFileSync } from "node:child_process";
import type { KubeObject } from "@firebolt-operator/kube";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { exampleOf } from "../harness/fixtures/manifests.ts";
import { runPlugin } from "../harness/programs/plugin-process.ts";
import { NAMESPACE } from "./support/plugin-cluster.ts";
import { openPluginHarness, type PluginHarness } from "./support/plugin-harness.ts";

let harness: PluginHarness;
beforeAll(async () => {
  harness = await openPluginHarness();
  const create = ["engine", "create", "--instance", "lakeside", "--bucket", "tables", "--timeout", "120s"];
  await harness.cluster.plugin([...create, "adhoc"]);
  await harness.cluster.plugin([...create, "parked", "--replicas", "0"]);
  await Promise.all([harness.cluster.rested("adhoc"), harness.cluster.rested("parked")]);
}, 300_000);
afterAll(() => harness?.[Symbol.asyncDispose]());

describe("lists", () => {
  test("tables, wide, name, json and yaml", async () => {
    await harness.cluster.rested("adhoc");
    await eventually(async () =>
      expect((await harness.cluster.plugin(["instance", "list"])).stdout).toBe(
        "NAME       PHASE   READY\nlakeside   Ready   true\n",
      ),
    );
    expect((await harness.cluster.plugin(["engine", "list"])).stdout).toBe(
      "NAME     INSTANCE   PHASE     READY\nadhoc    lakeside   stable    true\nparked   lakeside   stopped   false\n",
    );
    expect((await harness.cluster.plugin(["engine", "list", "-o", "wide"])).stdout).toBe(
      "NAME     INSTANCE   CLASS   REPLICAS   PHASE     READY\nadhoc    lakeside   -       1          stable    true\nparked   lakeside   -       0          stopped   false\n",
    );
    await eventually(async () =>
      expect((await harness.cluster.plugin(["class", "list", "-A"])).stdout).toBe(
        "NAMESPACE   NAME          BOUND   READY\nanalytics   accel-large   0       true\n",
      ),
    );
    expect((await harness.cluster.plugin(["engine", "list", "-o", "name"])).stdout).toBe(
      "fireboltengine/adhoc\nfireboltengine/parked\n",
    );
    const json = JSON.parse((await harness.cluster.plugin(["engine", "list", "-o", "json"])).stdout) as {
      items: KubeObject[];
    };
    expect(json).toMatchObject({ apiVersion: "v1", kind: "List" });
    expect(json.items[0]).toEqual({
      apiVersion: "compute.firebolt.io/v1alpha1",
      kind: "FireboltEngine",
      ...(await harness.engineOf("adhoc")),
    });
    expect(parse((await harness.cluster.plugin(["engine", "list", "-o", "yaml"])).stdout)).toEqual(json);
  });

  test("filters hold for every format; nothing found is no failure", async () => {
    const none = ["engine", "list", "--instance", "other"];
    expect(await harness.cluster.plugin(none)).toEqual({
      code: 0,
      stdout: "",
      stderr: "No fireboltengines found in namespace analytics. Use -A to search all namespaces.\n",
    });
    expect(JSON.parse((await harness.cluster.plugin([...none, "-o", "json"])).stdout)).toMatchObject({ items: [] });
    expect((await harness.cluster.plugin(["engine", "list", "-l", "team=x", "-o", "name"])).stdout).toBe("");
  });

  test("--watch prints a row per change until it is interrupted", async () => {
    await using watching = harness.cluster.start(["engine", "list", "--watch"]);
    await eventually(() => expect(watching.stdout()).toContain("parked"));
    const patch = { type: "merge", body: { metadata: { labels: { touched: "yes" } } } } as const;
    await harness.cluster.client.patch(FireboltEngine, { namespace: NAMESPACE, name: "parked" }, patch);
    await eventually(() =>
      expect(
        watching
          .stdout()
          .split("\n")
          .filter((line) => line.startsWith("parked")),
      ).toHaveLength(2),
    );
    watching.interrupt();
    expect((await watching.exit).code).toBe(130);
  });
});

describe("what is not there, not clear or not allowed", () => {
  test.each([
    {
      args: ["engine", "status", "adhok"],
      code: 3,
      stderr: 'error: FireboltEngine "adhok" not found in namespace "analytics" (did you mean "adhoc"?)\n',
    },
    {
      args: ["engine", "stop", "adhoc", "-n", "default"],
      code: 3,
      stderr:
        'error: FireboltEngine "adhoc" not found in namespace "default" (it exists in namespace analytics: use -n)\n',
    },
    {
      args: ["class", "show", "nothing"],
      code: 3,
      stderr: 'error: FireboltEngineClass "nothing" not found in namespace "analytics" (existing: accel-large)\n',
    },
    {
      args: ["instance", "status", "-n", "default"],
      code: 3,
      stderr: 'error: no FireboltInstance found in namespace "default": use -n to name another namespace\n',
    },
    {
      args: ["engine", "list", "--context", "nope"],
      code: 1,
      stderr: /^error: .*context "nope" not found; contexts available: /,
    },
    { args: ["enigne", "list"], code: 2, stderr: /unknown command "enigne" \(did you mean "engine"\?\)/ },
    { args: ["engine", "list", "--wtach"], code: 2, stderr: /unknown flag --wtach \(did you mean "--watch"\?\)/ },
    {
      args: ["class", "show", "accel-large", "--engine", "adhoc"],
      code: 3,
      stderr: /"adhoc" does not use class "accel-large"; no engine does/,
    },
    { args: ["engine", "logs", "adhoc", "-c", "nope"], code: 3, stderr: /has a container "nope": there are engine/ },
    {
      args: ["engine", "delete", "nobody"],
      code: 0,
      stdout: /^fireboltengine\/nobody not found in namespace analytics; nothing to delete/,
    },
  ])("$args", async ({ args, code, ...said }) => {
    const result = await harness.cluster.plugin(args);
    expect(result.code, result.stderr).toBe(code);
    for (const [stream, text] of Object.entries(said))
      expect(result[stream as "stdout" | "stderr"]).toEqual(
        typeof text === "string" ? text : expect.stringMatching(text),
      );
  });

  test("several instances: the message explains how to choose", async () => {
    const second = {
      ...exampleOf("instance-minimal.yaml", "FireboltInstance"),
      metadata: { name: "zweite", namespace: NAMESPACE },
    };
    await harness.cluster.client.create<KubeObject>(FireboltInstance, second);
    const result = await harness.cluster.plugin(["instance", "status"]);
    expect(result).toMatchObject({
      code: 2,
      stderr:
        'error: there are 2 objects of kind FireboltInstance in namespace "analytics": name one of lakeside, zweite\n',
    });
    await harness.cluster.client.delete(FireboltInstance, { namespace: NAMESPACE, name: "zweite" });
    await eventually(async () =>
      expect((await harness.cluster.plugin(["instance", "list", "-o", "name"])).stdout).toBe(
        "fireboltinstance/lakeside\n",
      ),
    );
  });

  test("missing permissions and an unreachable server are reported by name", async () => {
    const kubeconfig = await harness.cluster.controlPlane.userKubeconfig("nobody");
    expect(await runPlugin(["engine", "list", `--kubeconfig=${kubeconfig}`])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: permission denied: .*User "nobody" cannot list resource "fireboltengines"/,
      ),
    });
    expect(await runPlugin(["engine", "list", "--kubeconfig=/nowhere"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: .*\/nowhere/),
    });
  });
});

test("start-up is quick, and completion knows words and names", async () => {
  const started = performance.now();
  expect((await runPlugin(["--help"])).code).toBe(0);
  const helpMs = performance.now() - started;
  console.log(`--help: ${Math.round(helpMs)} ms`);
  expect((await runPlugin(["__complete", "--", "eng"])).stdout).toBe("engine\n");
  const typed = [
    "engine",
    "stop",
    "-n",
    NAMESPACE,
    `--kubeconfig=${harness.cluster.controlPlane.adminKubeconfig}`,
    "ad",
  ];
  expect((await runPlugin(["__complete", "--", ...typed])).stdout).toBe("adhoc\n");
  expect(
    execFileSync("bash", ["-n"], { input: (await runPlugin(["completion", "bash"])).stdout, encoding: "utf8" }),
  ).toBe("");
});
