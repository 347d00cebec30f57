// The plugin as a process against a real control plane with the operator at work: every command that looks at or changes something,
// its output, its exit code and its effect.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { FireboltEngine } from "../../src/api/engine.ts";
import { FireboltEngineClass } from "../../src/api/engine-class.ts";
import { FireboltInstance } from "../../src/api/instance.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { eventually } from "../support/cluster.ts";
import { NAMESPACE, type PluginCluster, startPluginCluster } from "../support/plugin-cluster.ts";
import { type PluginKubelet, startPluginKubelet } from "../support/plugin-kubelet.ts";
import { runPlugin } from "../support/plugin-process.ts";
import { Secret } from "../support/test-client.ts";

const EXAMPLES = join(import.meta.dirname, "../../examples");
const PLANTED = {
  secret: "planted-secret-value-1",
  variable: "planted-variable-value-2",
  config: "planted-config-value-3",
  token: "eyJhbGciOiJFUzI1NiJ9.eyJwbGFudGVkIjp0cnVlfQ.cGxhbnRlZHRva2Vu",
};

let cluster: PluginCluster;
let kubelet: PluginKubelet;
let gateway: Server;
let folder: string;

const engineOf = (name: string) => cluster.client.get(FireboltEngine, { namespace: NAMESPACE, name });
const example = (file: string): KubeObject => parse(readFileSync(join(EXAMPLES, file), "utf8")) as KubeObject;
const shell = (script: string): string =>
  execFileSync("sh", ["-eu"], {
    input: script,
    encoding: "utf8",
    env: { PATH: `${join(cluster.kubectl, "..")}:${process.env["PATH"]}`, HOME: folder },
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "plugin-"));
  cluster = await startPluginCluster();
  gateway = createServer((request, response) => {
    let statement = "";
    request.on("data", (chunk: Buffer) => {
      statement += chunk;
    });
    request.on("end", () => response.end(`${request.headers["x-firebolt-engine"]}: ${statement}\n`));
  }).listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const address = gateway.address();
  const forwardTo = typeof address === "object" && address !== null ? address.port : 0;
  const containers = ["engine", "metadata", "envoy", "postgres", "log-agent"];
  kubelet = await startPluginKubelet(cluster.controlPlane, {
    nodes: cluster.nodes,
    namespace: NAMESPACE,
    containers,
    forwardTo,
  });
  await cluster.client.create<KubeObject>(FireboltInstance, example("instance-minimal.yaml"));
  await cluster.client.create<KubeObject>(FireboltEngineClass, example("engine-class-accelerator.yaml"));
}, 240_000);

afterAll(async () => {
  await kubelet?.[Symbol.asyncDispose]();
  gateway?.close();
  await cluster?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe("create", () => {
  test("creates, waits and says so; a second time nothing changes", async () => {
    const args = ["engine", "create", "adhoc", "--instance", "lakeside", "--bucket", "tables", "--timeout", "90s"];
    expect(await cluster.plugin(args)).toEqual({
      code: 0,
      stdout:
        "fireboltengine.compute.firebolt.io/adhoc created\nfireboltengine.compute.firebolt.io/adhoc condition met\n",
      stderr: "",
    });
    expect((await engineOf("adhoc")).spec).toMatchObject({
      instanceRef: "lakeside",
      replicas: 1,
      customEngineConfig: { storage: { managed_table_storage: "s3", managed_table_bucket_name: "tables" } },
    });
    expect((await cluster.plugin(args)).stdout).toContain("fireboltengine.compute.firebolt.io/adhoc unchanged\n");
  });

  test("without a bucket it warns and goes on; 0 replicas are not waited for", async () => {
    const result = await cluster.plugin(["engine", "create", "parked", "--instance", "lakeside", "--replicas", "0"]);
    expect(result).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: neither --bucket nor/) });
    expect(result.stdout).toContain("has 0 replicas: it stays stopped");
    await cluster.rested("parked");
  });

  test("what --print-commands prints does the same, and printing touches nothing", async () => {
    const args = [
      "engine",
      "create",
      "printed",
      "--instance",
      "lakeside",
      "--replicas",
      "2",
      "--image",
      "example.com/e:1",
      "--host-path",
      "/mnt/it's",
      "--bucket",
      "b b",
    ];
    const printed = await cluster.plugin([...args, "--print-commands"]);
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    expect(await cluster.client.find(FireboltEngine, { namespace: NAMESPACE, name: "printed" })).toBeUndefined();
    shell(printed.stdout);
    const byScript = await engineOf("printed");
    await cluster.plugin(["engine", "delete", "printed"]);
    expect((await cluster.plugin(args)).code).toBe(0);
    const byPlugin = await engineOf("printed");
    expect(byPlugin.spec).toEqual(byScript.spec);
    expect(byPlugin.metadata?.managedFields).not.toBeUndefined();
    await cluster.plugin(["engine", "delete", "printed"]);
  });

  test("a wait that fails ends with 5, the reason and the describe line", async () => {
    const args = ["engine", "create", "lost", "--instance", "nowhere", "--bucket", "b", "--timeout", "2s"];
    const result = await cluster.plugin(args);
    expect(result.code).toBe(5);
    expect(result.stderr).toMatch(
      /^error: lost has not come to rest within 2s: .*nowhere.* not found.*\nsee: kubectl .*describe -n analytics fireboltengine lost\n$/s,
    );
    await cluster.plugin(["engine", "delete", "lost"]);
  });
});

describe("lists", () => {
  test("tables, wide, name, json and yaml", async () => {
    await cluster.rested("adhoc");
    await eventually(async () =>
      expect((await cluster.plugin(["instance", "list"])).stdout).toBe(
        "NAME       PHASE   READY\nlakeside   Ready   true\n",
      ),
    );
    expect((await cluster.plugin(["engine", "list"])).stdout).toBe(
      "NAME     INSTANCE   PHASE     READY\nadhoc    lakeside   stable    true\nparked   lakeside   stopped   false\n",
    );
    expect((await cluster.plugin(["engine", "list", "-o", "wide"])).stdout).toBe(
      "NAME     INSTANCE   CLASS   REPLICAS   PHASE     READY\nadhoc    lakeside   -       1          stable    true\nparked   lakeside   -       0          stopped   false\n",
    );
    expect((await cluster.plugin(["class", "list", "-A"])).stdout).toBe(
      "NAMESPACE   NAME          BOUND   READY\nanalytics   accel-large   0       true\n",
    );
    expect((await cluster.plugin(["engine", "list", "-o", "name"])).stdout).toBe(
      "fireboltengine/adhoc\nfireboltengine/parked\n",
    );
    const json = JSON.parse((await cluster.plugin(["engine", "list", "-o", "json"])).stdout) as { items: KubeObject[] };
    expect(json).toMatchObject({ apiVersion: "v1", kind: "List" });
    expect(json.items[0]).toEqual({
      apiVersion: "compute.firebolt.io/v1alpha1",
      kind: "FireboltEngine",
      ...(await engineOf("adhoc")),
    });
    expect(parse((await cluster.plugin(["engine", "list", "-o", "yaml"])).stdout)).toEqual(json);
  });

  test("filters hold for every format; nothing found is no failure", async () => {
    const none = ["engine", "list", "--instance", "other"];
    expect(await cluster.plugin(none)).toEqual({
      code: 0,
      stdout: "",
      stderr: "No objects of kind FireboltEngine in namespace analytics.\n",
    });
    expect(JSON.parse((await cluster.plugin([...none, "-o", "json"])).stdout)).toMatchObject({ items: [] });
    expect((await cluster.plugin(["engine", "list", "-l", "team=x", "-o", "name"])).stdout).toBe("");
  });

  test("--watch prints a row per change until it is interrupted", async () => {
    await using watching = cluster.start(["engine", "list", "--watch"]);
    await eventually(() => expect(watching.stdout()).toContain("parked"));
    const patch = { type: "merge", body: { metadata: { labels: { touched: "yes" } } } } as const;
    await cluster.client.patch(FireboltEngine, { namespace: NAMESPACE, name: "parked" }, patch);
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
      stderr: 'error: FireboltEngine "adhoc" not found in namespace "default" (there is one in analytics: use -n)\n',
    },
    {
      args: ["class", "show", "nothing"],
      code: 3,
      stderr: 'error: FireboltEngineClass "nothing" not found in namespace "analytics" (there: accel-large)\n',
    },
    {
      args: ["instance", "status", "-n", "default"],
      code: 3,
      stderr: 'error: there is no FireboltInstance in namespace "default"\n',
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
      stderr: /"adhoc" does not use class "accel-large"; nobody does/,
    },
    { args: ["engine", "logs", "adhoc", "-c", "nope"], code: 3, stderr: /has a container "nope": there are engine/ },
    { args: ["engine", "delete", "nobody"], code: 0, stdout: "fireboltengine/nobody not found; nothing to delete\n" },
  ])("$args", async ({ args, code, ...said }) => {
    const result = await cluster.plugin(args);
    expect(result.code, result.stderr).toBe(code);
    for (const [stream, text] of Object.entries(said))
      expect(result[stream as "stdout" | "stderr"]).toEqual(
        typeof text === "string" ? text : expect.stringMatching(text),
      );
  });

  test("several instances: it says how to choose", async () => {
    const second = { ...example("instance-minimal.yaml"), metadata: { name: "zweite", namespace: NAMESPACE } };
    await cluster.client.create<KubeObject>(FireboltInstance, second);
    const result = await cluster.plugin(["instance", "status"]);
    expect(result).toMatchObject({
      code: 2,
      stderr:
        'error: there are 2 objects of kind FireboltInstance in namespace "analytics": name one of lakeside, zweite\n',
    });
    await cluster.client.delete(FireboltInstance, { namespace: NAMESPACE, name: "zweite" });
    await eventually(async () =>
      expect((await cluster.plugin(["instance", "list", "-o", "name"])).stdout).toBe("fireboltinstance/lakeside\n"),
    );
  });

  test("somebody without rights is told so, and an unreachable server is named", async () => {
    const kubeconfig = await cluster.controlPlane.userKubeconfig("nobody");
    expect(await runPlugin(["engine", "list", `--kubeconfig=${kubeconfig}`])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: not allowed: .*User "nobody" cannot list resource "fireboltengines"/),
    });
    expect(await runPlugin(["engine", "list", "--kubeconfig=/nowhere"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: .*\/nowhere/),
    });
  });
});

describe("changes", () => {
  test("scale, stop, start, restart and wake do what they say and wait for it", async () => {
    expect((await cluster.plugin(["engine", "scale", "adhoc", "--replicas", "2", "--wait"])).stdout).toBe(
      "fireboltengine/adhoc scaled from 1 to 2 replicas\nfireboltengine/adhoc generation 1 serves with 2 of 2 pods ready\n",
    );
    expect((await cluster.plugin(["engine", "scale", "adhoc", "--replicas", "2"])).stdout).toBe(
      "fireboltengine/adhoc has 2 replicas already\n",
    );
    expect((await cluster.plugin(["stop", "adhoc", "--wait"])).stdout).toBe(
      "fireboltengine/adhoc stopped (it had 2 replicas)\nfireboltengine/adhoc stopped\n",
    );
    expect((await engineOf("adhoc")).status?.phase).toBe("stopped");
    expect((await cluster.plugin(["start", "adhoc", "--wait"])).stdout).toBe(
      "fireboltengine/adhoc started with 2 replicas\nfireboltengine/adhoc generation 3 serves with 2 of 2 pods ready\n",
    );
    expect((await cluster.plugin(["engine", "restart", "adhoc", "--wait"])).stdout).toContain(
      "generation 4 serves with 2 of 2 pods ready",
    );
    const woken = await cluster.plugin(["wake", "adhoc"]);
    expect(woken).toMatchObject({
      code: 0,
      stdout: "fireboltengine/adhoc asked to wake\n",
      stderr: expect.stringContaining("auto-stop is off"),
    });
    const stamp = (await engineOf("adhoc")).metadata?.annotations?.["firebolt.io/wake-requested"] ?? "";
    expect(Math.abs(Date.now() - Date.parse(stamp))).toBeLessThan(60_000);
  });

  test("the printed patch is the patch", async () => {
    const printed = await cluster.plugin(["engine", "scale", "adhoc", "--replicas", "1", "--print-commands"]);
    expect(printed.stdout).toMatch(
      /^# .*\nkubectl --kubeconfig=\S+ patch -n analytics fireboltengine adhoc --type=merge -p '\{"spec":\{"replicas":1\}\}'\n$/,
    );
    expect((await engineOf("adhoc")).spec?.replicas).toBe(2);
    shell(printed.stdout);
    expect((await engineOf("adhoc")).spec?.replicas).toBe(1);
    await cluster.rested("adhoc");
  });
});

describe("logs, queries and ports", () => {
  test("the logs of several pods come as one, in order of time", async () => {
    await cluster.plugin(["engine", "scale", "adhoc", "--replicas", "2", "--wait"]);
    const generation = (await engineOf("adhoc")).status?.activeGeneration ?? 0;
    kubelet.say("engine", "2026-01-01T00:00:00Z", ["starting", "ready"]);
    const pods = [0, 1].map((index) => `adhoc-g${generation}-${index}`);
    expect((await cluster.plugin(["logs", "adhoc"])).stdout).toBe(
      ["starting", "ready"].flatMap((line) => pods.map((pod) => `${pod}  ${line}\n`)).join(""),
    );
    expect((await cluster.plugin(["engine", "logs", "adhoc", "--tail", "1", "--timestamps"])).stdout).toBe(
      pods.map((pod) => `${pod}  2026-01-01T00:00:01.000000000Z ready\n`).join(""),
    );
    expect(await cluster.plugin(["logs", "adhoc", "--generation", "99"])).toMatchObject({
      code: 3,
      stderr: 'error: there are no pods of engine adhoc (generation 99) in namespace "analytics"\n',
    });
    kubelet.say("metadata", "2026-01-01T00:00:00Z", ["catalog open"]);
    expect((await cluster.plugin(["instance", "logs", "--component", "metadata"])).stdout).toBe("catalog open\n");
  });

  test("a query goes through the gateway by a forwarded port", async () => {
    expect(await cluster.plugin(["engine", "query", "adhoc", "SELECT 42"])).toEqual({
      code: 0,
      stdout: "adhoc: SELECT 42\n",
      stderr: "",
    });
  });

  test("port-forward says where, serves, and ends on Ctrl+C", async () => {
    await using forwarding = cluster.start(["instance", "port-forward"]);
    const text = await eventually(() => (forwarding.stdout().includes("Ctrl+C") ? forwarding.stdout() : false));
    const url = /^Forwarding on (http:\/\/localhost:\d+)\nCtrl\+C to stop\.\n$/.exec(text)?.[1] ?? "";
    const answer = await fetch(url.replace("localhost", "127.0.0.1"), {
      method: "POST",
      body: "x",
      signal: AbortSignal.timeout(10_000),
    });
    expect(await answer.text()).toBe("undefined: x\n");
    forwarding.interrupt();
    expect(await forwarding.exit).toMatchObject({ code: 130, stderr: "" });
  });

  test("without kubectl it says what is missing", async () => {
    const result = await cluster.plugin(["engine", "port-forward", "adhoc"], { env: { KUBECTL: "/nowhere/kubectl" } });
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: \/nowhere\/kubectl cannot be started.*needed to forward ports/),
    });
  });
});

test("a support bundle holds what helps and none of the planted secrets", async () => {
  await cluster.client.create<KubeObject>(Secret, {
    metadata: { name: "planted", namespace: NAMESPACE },
    ...{ stringData: { password: PLANTED.secret } },
  });
  await cluster.client.patch(
    FireboltEngine,
    { namespace: NAMESPACE, name: "parked" },
    {
      type: "merge",
      body: {
        metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(PLANTED) } },
        spec: {
          customEngineConfig: { storage: { access_key: PLANTED.config } },
          template: { spec: { containers: [{ name: "engine", env: [{ name: "LICENCE", value: PLANTED.variable }] }] } },
        },
      },
    },
  );
  await cluster.rested("parked");
  kubelet.say("engine", "2026-01-01T00:01:00Z", [
    ...Object.values(PLANTED).map((value) => `it prints ${value} in the middle`),
    `authorization: Bearer ${PLANTED.token}`,
    Buffer.from(PLANTED.secret).toString("base64"),
    "last words",
  ]);
  const file = join(folder, "bundle.tar.gz");
  const result = await cluster.plugin(["support-bundle", "--file", file]);
  expect(result, result.stderr).toMatchObject({ code: 0, stderr: "" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const raw = gunzipSync(readFileSync(file)).toString("utf8");
  for (const value of [...Object.values(PLANTED), Buffer.from(PLANTED.secret).toString("base64")])
    expect(raw).not.toContain(value);
  execFileSync("tar", ["xzf", file, "--strip-components=1"], { cwd: folder });
  const read = (path: string): string => readFileSync(join(folder, path), "utf8");
  const { activeGeneration } = (await engineOf("adhoc")).status ?? {};
  expect(read(`logs/adhoc-g${activeGeneration}-0/engine.log`)).toMatch(
    /it prints REDACTED in the middle\n.*last words\n$/s,
  );
  expect(read("status.txt")).toContain("lakeside");
  expect(parse(read("objects/fireboltengine/parked.yaml"))).toMatchObject({
    spec: {
      customEngineConfig: { storage: { access_key: "REDACTED" } },
      template: { spec: { containers: [{ env: [{ name: "LICENCE", value: "REDACTED" }] }] } },
    },
  });
  expect(parse(read("objects/secret/planted.yaml"))).toMatchObject({ kind: "Secret", keys: ["password"] });
  expect(existsSync(join(folder, "objects/statefulset"))).toBe(true);
  expect(read("objects/secret/lakeside-metadata-postgres-creds.yaml")).toContain("firebolt.io/instance");
});

test("start-up is quick, and completion knows words and names", async () => {
  const started = performance.now();
  expect((await runPlugin(["--help"])).code).toBe(0);
  const helpMs = performance.now() - started;
  console.log(`--help: ${Math.round(helpMs)} ms`);
  expect((await runPlugin(["__complete", "--", "eng"])).stdout).toBe("engine\n");
  const typed = ["engine", "stop", "-n", NAMESPACE, `--kubeconfig=${cluster.controlPlane.adminKubeconfig}`, "ad"];
  expect((await runPlugin(["__complete", "--", ...typed])).stdout).toBe("adhoc\n");
  expect(
    execFileSync("bash", ["-n"], { input: (await runPlugin(["completion", "bash"])).stdout, encoding: "utf8" }),
  ).toBe("");
});

test("delete waits until the engine is gone", async () => {
  expect((await cluster.plugin(["engine", "delete", "parked"])).stdout).toBe(
    'fireboltengine.compute.firebolt.io "parked" deleted\n',
  );
  expect(await cluster.client.find(FireboltEngine, { namespace: NAMESPACE, name: "parked" })).toBeUndefined();
});
