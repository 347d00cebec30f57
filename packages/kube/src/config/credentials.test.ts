// The credentials of a request, and what happens if the server rejects them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createKubeClient } from "../client/kube-client.ts";
import { respondJson, startLoopback } from "../testing/loopback-server.ts";
import type { Authentication, ExecPlugin } from "./cluster-config.ts";

const folder = mkdtempSync(join(tmpdir(), "credentials-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A server that accepts exactly one Authorization header, which the test may change. */
async function doorkeeper(accepted: { header: string }) {
  return startLoopback((request, response) => {
    const welcome = request.headers.authorization === accepted.header;
    respondJson(
      response,
      welcome ? 200 : 401,
      welcome ? { ok: true } : { kind: "Status", apiVersion: "v1", reason: "Unauthorized" },
    );
  });
}

const get = { method: "GET", path: "/x" };
const codes = (server: { seen: readonly unknown[] }): number => server.seen.length;

test("a token file replaced after it was read: the 401 is retried with the new token", async () => {
  const path = join(folder, "token");
  writeFileSync(path, "old\n");
  const accepted = { header: "Bearer old" };
  await using server = await doorkeeper(accepted);
  const client = createKubeClient({ config: server.config({ authentication: { type: "tokenFile", path } }) });
  await client.request(get);
  writeFileSync(path, "new\n");
  accepted.header = "Bearer new";
  await client.request({ method: "POST", path: "/x", body: {} });
  await client.request(get);
  expect(server.seen.map((request) => request.headers.authorization)).toEqual([
    "Bearer old",
    "Bearer old",
    "Bearer new",
    "Bearer new",
  ]);
});

test.each<{ name: string; authentication: Authentication; requests: number }>([
  { name: "a fixed token", authentication: { type: "token", token: "x" }, requests: 1 },
  { name: "a password", authentication: { type: "basic", username: "u", password: "p" }, requests: 1 },
])("$name that is refused is refused for good", async ({ authentication, requests }) => {
  await using server = await doorkeeper({ header: "Bearer other" });
  const client = createKubeClient({ config: server.config({ authentication }) });
  await expect(client.request(get)).rejects.toMatchObject({ status: 401, reason: "Unauthorized" });
  expect(codes(server)).toBe(requests);
});

test("an unchanged token file is not retried", async () => {
  const path = join(folder, "same");
  writeFileSync(path, "same");
  await using server = await doorkeeper({ header: "Bearer other" });
  const client = createKubeClient({ config: server.config({ authentication: { type: "tokenFile", path } }) });
  await expect(client.request(get)).rejects.toMatchObject({ status: 401 });
  expect(codes(server)).toBe(1);
});

test("basic authentication", async () => {
  await using server = await doorkeeper({ header: `Basic ${Buffer.from("u:p:w").toString("base64")}` });
  const authentication = { type: "basic", username: "u", password: "p:w" } as const;
  expect(await createKubeClient({ config: server.config({ authentication }) }).request(get)).toEqual({ ok: true });
});

/** A plugin that prints the content of the named file. */
function pluginFor(path: string): ExecPlugin {
  return {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "/bin/cat",
    args: [path],
    env: {},
    interactiveMode: "Never",
    provideClusterInfo: false,
    installHint: undefined,
    clusterConfig: undefined,
  };
}
const credential = (status: object): string =>
  JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status });

test("a plugin is run again after a 401", async () => {
  const path = join(folder, "exec-token");
  writeFileSync(path, credential({ token: "first" }));
  const accepted = { header: "Bearer first" };
  await using server = await doorkeeper(accepted);
  const authentication = { type: "exec", plugin: pluginFor(path) } as const;
  const client = createKubeClient({ config: server.config({ authentication }) });
  await Promise.all([client.request(get), client.request(get)]);
  writeFileSync(path, credential({ token: "second" }));
  accepted.header = "Bearer second";
  await Promise.all([client.request(get), client.request(get)]);
  expect(codes(server)).toBe(6);
});

test("a plugin may issue client certificates, and a renewed one opens new connections", async () => {
  const accepted = { peer: "first" };
  await using server = await startLoopback(
    (request, response) => respondJson(response, request.peer === accepted.peer ? 200 : 401, { peer: request.peer }),
    { tls: true },
  );
  const path = join(folder, "exec-certificate");
  const issue = (commonName: string): void => {
    const { certificate, key } = server.authority.issue({ commonName, usages: ["client"] });
    writeFileSync(path, credential({ clientCertificateData: certificate, clientKeyData: key }));
  };
  issue("first");
  const authentication = { type: "exec", plugin: pluginFor(path) } as const;
  const client = createKubeClient({ config: server.config({ authentication }) });
  expect([await client.request(get), await client.request(get)]).toEqual([{ peer: "first" }, { peer: "first" }]);
  expect(server.connections).toBe(1);
  issue("second");
  accepted.peer = "second";
  expect(await client.request(get)).toEqual({ peer: "second" });
  expect(server.connections).toBe(2);
  await expect.poll(() => server.sockets.size).toBe(1);
});
