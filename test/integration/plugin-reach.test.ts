// The plugin's ways into the pods, as a process against a real control plane: logs, queries, forwarded ports, and the support bundle
// that collects from all of them without anything secret.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { FireboltEngine } from "../../src/api/engine.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { eventually } from "../support/cluster.ts";
import { NAMESPACE } from "../support/plugin-cluster.ts";
import { openPluginWorld, type PluginWorld } from "../support/plugin-world.ts";
import { Secret } from "../support/test-client.ts";

const PLANTED = {
  secret: "planted-secret-value-1",
  variable: "planted-variable-value-2",
  config: "planted-config-value-3",
  token: "eyJhbGciOiJFUzI1NiJ9.eyJwbGFudGVkIjp0cnVlfQ.cGxhbnRlZHRva2Vu",
};

let world: PluginWorld;
beforeAll(async () => {
  world = await openPluginWorld();
  const create = ["engine", "create", "--instance", "lakeside", "--bucket", "tables", "--timeout", "120s"];
  await world.cluster.plugin([...create, "adhoc", "--replicas", "2"]);
  await world.cluster.plugin([...create, "parked", "--replicas", "0"]);
  await world.cluster.rested("adhoc");
}, 240_000);
afterAll(() => world?.[Symbol.asyncDispose]());

describe("logs, queries and ports", () => {
  test("the logs of several pods come as one, in order of time", async () => {
    const generation = (await world.engineOf("adhoc")).status?.activeGeneration ?? 0;
    world.kubelet.say("engine", "2026-01-01T00:00:00Z", ["starting", "ready"]);
    const pods = [0, 1].map((index) => `adhoc-g${generation}-${index}`);
    expect((await world.cluster.plugin(["logs", "adhoc"])).stdout).toBe(
      ["starting", "ready"].flatMap((line) => pods.map((pod) => `${pod}  ${line}\n`)).join(""),
    );
    expect((await world.cluster.plugin(["engine", "logs", "adhoc", "--tail", "1", "--timestamps"])).stdout).toBe(
      pods.map((pod) => `${pod}  2026-01-01T00:00:01.000000000Z ready\n`).join(""),
    );
    expect(await world.cluster.plugin(["logs", "adhoc", "--generation", "99"])).toMatchObject({
      code: 3,
      stderr: 'error: there are no pods of engine adhoc (generation 99) in namespace "analytics"\n',
    });
    world.kubelet.say("metadata", "2026-01-01T00:00:00Z", ["catalog open"]);
    expect((await world.cluster.plugin(["instance", "logs", "--component", "metadata"])).stdout).toBe("catalog open\n");
  });

  test("a query goes through the gateway by a forwarded port", async () => {
    expect(await world.cluster.plugin(["engine", "query", "adhoc", "SELECT 42"])).toEqual({
      code: 0,
      stdout: "adhoc: SELECT 42\n",
      stderr: "",
    });
  });

  test("port-forward says where, serves, and ends on Ctrl+C", async () => {
    await using forwarding = world.cluster.start(["instance", "port-forward"]);
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
    const result = await world.cluster.plugin(["engine", "port-forward", "adhoc"], {
      env: { KUBECTL: "/nowhere/kubectl" },
    });
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: \/nowhere\/kubectl cannot be started.*needed to forward ports/),
    });
  });
});

test("a support bundle holds what helps and none of the planted secrets", async () => {
  await world.cluster.client.create<KubeObject>(Secret, {
    metadata: { name: "planted", namespace: NAMESPACE },
    ...{ stringData: { password: PLANTED.secret } },
  });
  await world.cluster.client.patch(
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
  await world.cluster.rested("parked");
  world.kubelet.say("engine", "2026-01-01T00:01:00Z", [
    ...Object.values(PLANTED).map((value) => `it prints ${value} in the middle`),
    `authorization: Bearer ${PLANTED.token}`,
    Buffer.from(PLANTED.secret).toString("base64"),
    "last words",
  ]);
  const file = join(world.folder, "bundle.tar.gz");
  const result = await world.cluster.plugin(["support-bundle", "--file", file]);
  expect(result, result.stderr).toMatchObject({ code: 0, stderr: "" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const raw = gunzipSync(readFileSync(file)).toString("utf8");
  for (const value of [...Object.values(PLANTED), Buffer.from(PLANTED.secret).toString("base64")])
    expect(raw).not.toContain(value);
  execFileSync("tar", ["xzf", file, "--strip-components=1"], { cwd: world.folder });
  const read = (path: string): string => readFileSync(join(world.folder, path), "utf8");
  const { activeGeneration } = (await world.engineOf("adhoc")).status ?? {};
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
  expect(existsSync(join(world.folder, "objects/statefulset"))).toBe(true);
  expect(read("objects/secret/lakeside-metadata-postgres-creds.yaml")).toContain("firebolt.io/instance");
});
