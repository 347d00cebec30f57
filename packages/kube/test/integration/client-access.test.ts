// Authentication to a real API server (credential plugin, service account token, impersonation) and access to a
// pod through it: its log and its ports.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import type { KubeClient } from "../../src/client/client.ts";
import { createKubeClient } from "../../src/client/kube-client.ts";
import { isForbidden, KubeApiError } from "../../src/core/errors.ts";
import { isFields } from "../../src/core/fields.ts";
import { ConfigMap } from "../../src/kinds/index.ts";
import { createNamespace } from "../support/cluster.ts";
import { podAddress } from "../support/pod-network.ts";
import { clusterConfig, Pod, ServiceAccount, testClient } from "../support/test-client.ts";

let client: KubeClient;
let namespace: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "client-access-"));
  namespace = await createNamespace("access");
  client = await testClient();
  for (const name of ["default", "robot"])
    await client.apply(ServiceAccount, { metadata: { namespace, name } }, { fieldManager: "test" });
});
afterAll(async () => {
  client.close();
  await rm(folder, { recursive: true });
});

async function tokenOf(name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const response = await client.request({ method: "POST", path, body: { spec: { expirationSeconds: 600 } } });
  const status = isFields(response) ? response["status"] : undefined;
  if (!isFields(status) || typeof status["token"] !== "string") throw new Error("no token in the response");
  return status["token"];
}

async function whoIs(somebody: KubeClient): Promise<unknown> {
  return somebody.request({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  });
}

test("a credential plugin from a kubeconfig: receives the cluster, runs once, authenticates", async () => {
  const admin = await clusterConfig();
  const ca = admin.certificateAuthority?.type === "inline" ? admin.certificateAuthority.pem : undefined;
  const credential = join(folder, "credential.json");
  const received = join(folder, "received.json");
  const plugin = join(folder, "plugin.mjs");
  const status = { token: await tokenOf("robot"), expirationTimestamp: new Date(Date.now() + 600_000).toISOString() };
  const apiVersion = "client.authentication.k8s.io/v1";
  await writeFile(credential, JSON.stringify({ apiVersion, kind: "ExecCredential", status }));
  await writeFile(
    plugin,
    `import { appendFileSync, readFileSync } from "node:fs";
     appendFileSync(process.env.RECEIVED, process.env.KUBERNETES_EXEC_INFO + "\\n");
     process.stdout.write(readFileSync(process.argv[2]));`,
  );
  const exec = {
    apiVersion,
    command: process.execPath,
    args: [plugin, credential],
    env: [{ name: "RECEIVED", value: received }],
    interactiveMode: "Never",
    provideClusterInfo: true,
  };
  const kubeconfig = join(folder, "kubeconfig");
  const cluster = {
    server: admin.server,
    ...(ca === undefined
      ? { "certificate-authority": admin.certificateAuthority?.type === "file" && admin.certificateAuthority.path }
      : { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
  };
  await writeFile(
    kubeconfig,
    stringify({
      "current-context": "x",
      clusters: [{ name: "x", cluster }],
      users: [{ name: "x", user: { exec } }],
      contexts: [{ name: "x", context: { cluster: "x", user: "x", namespace } }],
    }),
  );
  const config = await clusterConfig(kubeconfig);
  expect(config.namespace).toBe(namespace);
  const robot = createKubeClient({ config });
  const username = `system:serviceaccount:${namespace}:robot`;
  const responses = await Promise.all([whoIs(robot), whoIs(robot), whoIs(robot)]);
  for (const response of responses) expect(response).toMatchObject({ status: { userInfo: { username } } });
  const forbidden = await robot.list(ConfigMap, { namespace }).catch((error: unknown) => error);
  expect(isForbidden(forbidden)).toBe(true);
  const runs = (await readFile(received, "utf8")).trim().split("\n");
  expect(runs).toHaveLength(1);
  expect(JSON.parse(runs[0] ?? "")).toMatchObject({ spec: { interactive: false, cluster: { server: admin.server } } });
  robot.close();
});

test("impersonation: the server sees the impersonated user and groups", async () => {
  const impersonate = { user: "jane", uid: undefined, groups: ["dev", "ops"], extra: { "acme.com/reason": ["x y"] } };
  const jane = createKubeClient({ config: { ...(await clusterConfig()), impersonate } });
  expect(await whoIs(jane)).toMatchObject({
    status: {
      userInfo: {
        username: "jane",
        groups: expect.arrayContaining(["dev", "ops"]),
        extra: { "acme.com/reason": ["x y"] },
      },
    },
  });
  jane.close();
});

test("a rejected token is a 401 with the API's reason", async () => {
  const { clientCertificate: _, ...config } = await clusterConfig();
  const stranger = createKubeClient({ config: { ...config, authentication: { type: "token", token: "nonsense" } } });
  await expect(whoIs(stranger)).rejects.toMatchObject({ status: 401, reason: "Unauthorized" });
  stranger.close();
});

async function podAt(name: string, podIP: string): Promise<void> {
  const spec = { nodeName: "nowhere", containers: [{ name: "c", image: "i" }] };
  await client.create(Pod, { metadata: { namespace, name }, spec });
  const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }] };
  await client.patch(Pod, { namespace, name }, { type: "merge", body: { status } }, { subresource: "status" });
}

test.each([false, true])("pods/log: the log of a pod without a node is empty (follow: %s)", async (follow) => {
  const pod = `unscheduled-${follow}`;
  await client.create(Pod, { metadata: { namespace, name: pod }, spec: { containers: [{ name: "c", image: "i" }] } });
  const read = async (name: string): Promise<readonly string[]> => {
    const lines: string[] = [];
    const request = { namespace, pod: name, container: "c", follow };
    for await (const line of client.podLogs(request, { signal: AbortSignal.timeout(10_000) })) lines.push(line);
    return lines;
  };
  expect(await read(pod)).toEqual([]);
  await expect(read("nobody")).rejects.toMatchObject({ status: 404, reason: "NotFound" });
});

test("pods/proxy: a rejection by the API server is an error", async () => {
  const get = (pod: string): Promise<unknown> => client.podProxyGet({ namespace, pod, port: 1, path: "/metrics" });
  await expect(get("nobody")).rejects.toMatchObject({ status: 404, reason: "NotFound" });
  // The API server never connects to its own loopback on behalf of a pod.
  await podAt("loopback", "127.0.0.1");
  await expect(get("loopback")).rejects.toMatchObject({ status: 400, reason: "BadRequest" });
});

test("pods/proxy: the response of the pod is returned unchanged", async () => {
  const server: Server = createServer((request, response) => {
    response.writeHead(request.url === "/busy?x=1" ? 503 : 200, { "content-type": "text/plain" });
    response.end(`you requested for ${request.url}`);
  });
  const address = podAddress(1);
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  await podAt("local", address);
  const get = { namespace, pod: "local", port };
  expect(await client.podProxyGet({ ...get, path: "/metrics" })).toEqual({
    status: 200,
    body: "you requested for /metrics",
  });
  expect(await client.podProxyGet({ ...get, path: "busy?x=1" })).toEqual({
    status: 503,
    body: "you requested for /busy?x=1",
  });
  await expect(client.podProxyGet({ ...get, path: "/long", maxBytes: 5 })).rejects.toThrow("larger than 5 bytes");
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const unreachable = await client.podProxyGet({ ...get, path: "/metrics" }).catch((error: unknown) => error);
  expect(unreachable).toBeInstanceOf(KubeApiError);
  expect(unreachable).toMatchObject({ status: 503, reason: "ServiceUnavailable" });
});
