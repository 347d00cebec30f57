// The support bundle of a real cluster whose logs, objects and events are full of credentials, as programs and people
// write them: none of them is in the archive, and what helps support still is.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { KubeObject } from "@firebolt-operator/kube";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { coreEvents } from "../../src/engine/cluster/kinds.ts";
import { Secret } from "../harness/control-plane/test-client.ts";
import { NAMESPACE } from "./support/plugin-cluster.ts";
import { openPluginHarness, type PluginHarness } from "./support/plugin-harness.ts";

/** Every planted value has this in it, and nothing else has. */
const MARK = "planted";
const planted = (what: string): string => `${MARK}-${what}-4f7a`;
const JWT = `eyJhbGciOiJFUzI1NiJ9.${Buffer.from(planted("payload")).toString("base64url")}.${planted("jwt")}`;

const ENGINE_LOG = [
  '{"level":"info","msg":"joined the cluster","nodes":2}',
  `COPY INTO t FROM 's3://b/' WITH CREDENTIALS = (AWS_KEY_ID='AKIAABCDEFGHIJKLMNOP' AWS_SECRET_KEY = '${planted("sql-credentials")}')`,
  `CREATE USER a WITH PASSWORD '${planted("sql-password")}'`,
  `{"level":"error","msg":"bad request {\\"password\\":\\"${planted("escaped-json")}\\"}","code":400}`,
  JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ api_key: planted("twice-escaped-json") }) }) }),
  `{"level":"info","query_id":"q-17","query":"SELECT * FROM people WHERE ssn = '${planted("literal")}'","duration_ms":12}`,
  `slow statement: select a from t where b = '${planted("lower-case-literal")}'`,
  `DefaultEndpointsProtocol=https;AccountName=lake;AccountKey=${planted("azure")}==;EndpointSuffix=core.windows.net`,
  `GET https://b.s3.amazonaws.com/o?X-Amz-Date=1&X-Amz-Signature=${planted("amz-signature")} failed`,
  `client_secret_key: ${planted("yaml")}`,
  `exec tool --api-token ${planted("flag")} --level 3`,
  `dial postgres://fb:${planted("url")}@db:5432/x: connection refused`,
  `authorization: Bearer ${planted("bearer")}`,
  `saw ${JWT} there`,
  "-----BEGIN RSA PRIVATE KEY-----",
  planted("private-key"),
  "-----END RSA PRIVATE KEY-----",
  "last words",
];
const ACCESS_LOG = `[2026-01-01T00:00:00.000Z] "POST /?engine=adhoc&aws_secret_key=${planted("access-log")} HTTP/1.1" 503 flags=UF duration=7ms`;

let harness: PluginHarness;
beforeAll(async () => {
  harness = await openPluginHarness();
  const secret = (name: string, value: string) =>
    harness.cluster.client.create<KubeObject>(Secret, {
      metadata: { name, namespace: NAMESPACE, annotations: { "example.com/note": planted("annotation-of-a-secret") } },
      ...{ stringData: { password: value } },
    });
  await secret("of-somebody-else", planted("foreign-secret"));
  await secret("of-the-engine", planted("own-secret"));
  const template = {
    metadata: { annotations: { "example.com/api-key-of-tool": planted("annotation") } },
    spec: {
      containers: [
        { name: "engine", env: [{ name: "LICENCE", value: planted("variable") }] },
        {
          name: "log-agent",
          image: "registry.example.com/log-agent:1",
          args: ["--level=debug", "--password", planted("argument"), `--token=${planted("glued-argument")}`],
          env: [{ name: "P", valueFrom: { secretKeyRef: { name: "of-the-engine", key: "password" } } }],
          livenessProbe: {
            httpGet: { path: "/live", port: 80, httpHeaders: [{ name: "X-Api-Key", value: planted("header") }] },
          },
        },
      ],
    },
  };
  await harness.cluster.client.create<KubeObject>(FireboltEngine, {
    metadata: {
      name: "adhoc",
      namespace: NAMESPACE,
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": `{"x":"${planted("last-applied")}"}` },
    },
    ...{
      spec: {
        instanceRef: "lakeside",
        replicas: 1,
        customEngineConfig: { storage: { access_key: planted("configuration") } },
        template,
      },
    },
  });
  await harness.cluster.rested("adhoc");
  harness.kubelet.say("engine", "2026-01-01T00:00:00Z", [
    ...ENGINE_LOG,
    `it prints ${planted("foreign-secret")} and ${planted("variable")} in the middle`,
    `${Buffer.from(planted("own-secret")).toString("base64")} as well`,
  ]);
  harness.kubelet.say("envoy", "2026-01-01T00:00:00Z", [ACCESS_LOG]);
  await harness.cluster.client.create<KubeObject>(coreEvents, {
    metadata: { name: "failed", namespace: NAMESPACE },
    ...{
      involvedObject: { kind: "Pod", namespace: NAMESPACE, name: "adhoc-g0-0" },
      reason: "FailedProbe",
      message: `probe failed: {"token":"${planted("event")}"} after 3 tries`,
      type: "Warning",
    },
  });
}, 300_000);
afterAll(() => harness?.[Symbol.asyncDispose]());

test("a support bundle holds what helps and none of the planted secrets", async () => {
  const file = join(harness.folder, "bundle.tar.gz");
  const result = await harness.cluster.plugin(["support-bundle", "--file", file]);
  expect(result, result.stderr).toMatchObject({ code: 0, stderr: "" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const raw = gunzipSync(readFileSync(file)).toString("utf8");
  const leaked = raw.split("\n").filter((line) => line.includes(MARK) || line.includes("AKIA") || line.includes(JWT));
  expect(leaked).toEqual([]);
  expect(raw).not.toContain(Buffer.from(planted("own-secret")).toString("base64"));

  execFileSync("tar", ["xzf", file, "--strip-components=1"], { cwd: harness.folder });
  const read = (path: string): string => readFileSync(join(harness.folder, path), "utf8");
  const { activeGeneration } = (await harness.engineOf("adhoc")).status ?? {};
  const pod = `adhoc-g${activeGeneration}-0`;
  const log = read(`logs/${pod}/engine.log`);
  for (const kept of [
    '{"level":"info","msg":"joined the cluster","nodes":2}',
    '"code":400}',
    '"query_id":"q-17","query":"REDACTED","duration_ms":12}',
    "AccountName=lake;AccountKey=REDACTED;EndpointSuffix=core.windows.net",
    "exec tool --api-token REDACTED --level 3",
    "dial postgres://fb:REDACTED@db:5432/x: connection refused",
    "last words",
    "it prints REDACTED and REDACTED in the middle",
  ])
    expect(log).toContain(kept);
  const gateway = execFileSync("sh", ["-c", "cat logs/lakeside-gateway-*/envoy.log"], {
    cwd: harness.folder,
    encoding: "utf8",
  });
  expect(gateway).toContain('"POST /?engine=adhoc&aws_secret_key=REDACTED HTTP/1.1" 503 flags=UF duration=7ms');
  expect(read("events.json")).toMatch(
    /"reason": "FailedProbe",\s+"message": "probe failed: .*REDACTED.* after 3 tries"/,
  );
  expect(read("status.txt")).toContain("lakeside");
  expect(parse(read("objects/fireboltengine/adhoc.yaml"))).toMatchObject({
    metadata: { name: "adhoc" },
    spec: {
      customEngineConfig: { storage: { access_key: "REDACTED" } },
      template: {
        spec: {
          containers: [
            { env: [{ name: "LICENCE", value: "REDACTED" }] },
            {
              image: "registry.example.com/log-agent:1",
              args: ["--level=debug", "--password", "REDACTED", "--token=REDACTED"],
              env: [{ name: "P", valueFrom: { secretKeyRef: { name: "of-the-engine", key: "password" } } }],
              livenessProbe: { httpGet: { path: "/live", httpHeaders: [{ name: "X-Api-Key", value: "REDACTED" }] } },
            },
          ],
        },
      },
    },
    status: {
      phase: "stable",
      conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status: "True" })]),
    },
  });
  expect(existsSync(join(harness.folder, `objects/pod/${pod}.yaml`))).toBe(true);
  expect(existsSync(join(harness.folder, "objects/statefulset"))).toBe(true);
});

test("of Secrets only those of the instance are listed, by name and key", () => {
  const folder = join(harness.folder, "objects/secret");
  const names = execFileSync("ls", [folder], { encoding: "utf8" }).trim().split("\n");
  expect(names).toEqual(["lakeside-metadata-postgres-creds.yaml", "of-the-engine.yaml"]);
  expect(parse(readFileSync(join(folder, "of-the-engine.yaml"), "utf8"))).toEqual({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "of-the-engine", namespace: NAMESPACE, creationTimestamp: expect.any(String) },
    type: "Opaque",
    keys: ["password"],
  });
});

test("a bundle is not written over a file that is there, nor into a folder that is not", async () => {
  const file = join(harness.folder, "mine.txt");
  writeFileSync(file, "mine", { mode: 0o644 });
  expect(await harness.cluster.plugin(["support-bundle", "--no-logs", "--file", file])).toEqual({
    code: 1,
    stdout: "",
    stderr: `error: the support bundle was not written to ${file}: the file already exists: remove it, or choose another one with --file\n`,
  });
  expect(readFileSync(file, "utf8")).toBe("mine");
  expect(await harness.cluster.plugin(["support-bundle", "--no-logs", "--file", "/nowhere/x.tar.gz"])).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "error: the support bundle was not written to /nowhere/x.tar.gz: the folder does not exist: create it, or choose another file with --file\n",
  });
});
