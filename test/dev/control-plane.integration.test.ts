// The test control plane: identities, restarts, compaction, simulated pods, and complete cleanup.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createKubeClient, loadKubeconfig } from "@firebolt-operator/kube/client";
import { ConfigMap } from "@firebolt-operator/kube/kinds";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../dev/control-plane/nodes.ts";
import { createNamespace, eventually, requestAs } from "../harness/control-plane/requests.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

describe("etcd and kube-apiserver", () => {
  let cluster: ControlPlane;
  beforeAll(async () => {
    cluster = await startControlPlane();
  });
  afterAll(() => cluster.stop());

  test("the administrator's kubeconfig has the administrator's group", async () => {
    const who = await whoAmI(cluster.adminKubeconfig);
    expect(who).toMatchObject({ username: "admin", groups: ["system:masters", "system:authenticated"] });
  });

  test("a user's kubeconfig authenticates as this user with these groups", async () => {
    const who = await whoAmI(await cluster.userKubeconfig("mara", ["readers", "writers"]));
    expect(who).toMatchObject({ username: "mara", groups: ["readers", "writers", "system:authenticated"] });
  });

  test("the same user with other groups gets another file", async () => {
    const reader = await cluster.userKubeconfig("mara", ["readers"]);
    const writer = await cluster.userKubeconfig("mara", ["writers"]);
    expect(await whoAmI(reader)).toMatchObject({ groups: ["readers", "system:authenticated"] });
    expect(await whoAmI(writer)).toMatchObject({ groups: ["writers", "system:authenticated"] });
  });

  test("a service account is made and its token authenticates as it, also the second time", async () => {
    for (let round = 0; round < 2; round++) {
      const who = await whoAmI(await cluster.serviceAccountKubeconfig("robots", "arm"));
      expect(who).toMatchObject({ username: "system:serviceaccount:robots:arm" });
    }
  });

  test("RBAC rejects a plain user and allows what a binding grants", async () => {
    const kubeconfig = await cluster.userKubeconfig("nobody-special");
    const list = { path: "/api/v1/namespaces/kube-system/secrets" };
    const refused = await requestAs(kubeconfig, list, [403]);
    expect(refused.status).toBe(403);
    const binding = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "nobody-special" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "nobody-special" }],
    };
    const path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    await requestAs(cluster.adminKubeconfig, { method: "POST", path, body: binding });
    await eventually(() => requestAs(kubeconfig, list), { describe: "the bound user may list secrets" });
  });

  test("the API server listens on loopback only", () => {
    const port = Number(new URL(cluster.url).port).toString(16).toUpperCase().padStart(4, "0");
    const listening = readFileSync("/proc/net/tcp", "utf8") + readFileSync("/proc/net/tcp6", "utf8");
    const addresses = [...listening.matchAll(new RegExp(` ([0-9A-F]+):${port} [0-9A-F]+:0000 0A `, "g"))];
    expect(addresses.map((match) => match[1])).toEqual(["0100007F"]);
  });

  test("a restart keeps the data, the port and the kubeconfigs", async () => {
    const before = cluster.processes;
    await createConfigMap("kept");
    await cluster.stopApiServer();
    await expect(requestAs(cluster.adminKubeconfig, { path: "/readyz" })).rejects.toThrow("ECONNREFUSED");
    await cluster.startApiServer();
    const kept = await requestAs(cluster.adminKubeconfig, { path: `${CONFIG_MAPS}/kept` });
    expect(kept.body).toMatchObject({ metadata: { name: "kept" } });
    expect(cluster.processes["etcd"]).toBe(before["etcd"]);
    expect(cluster.processes["kube-apiserver"]).not.toBe(before["kube-apiserver"]);
  });

  test.each(["SIGTERM", "SIGKILL"] as const)(
    "etcd ended by %s comes back with its data, and the API server finds it",
    async (signal) => {
      const name = `kept-${signal.toLowerCase()}`;
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
      await requestAs(cluster.adminKubeconfig, { method: "POST", path: CONFIG_MAPS, body });
      const before = cluster.processes;
      await cluster.restartEtcd(signal);
      await eventually(() => requestAs(cluster.adminKubeconfig, { path: `${CONFIG_MAPS}/${name}` }));
      await eventually(() => requestAs(cluster.adminKubeconfig, { method: "DELETE", path: `${CONFIG_MAPS}/${name}` }));
      expect(cluster.processes["etcd"]).not.toBe(before["etcd"]);
      expect(cluster.processes["kube-apiserver"]).toBe(before["kube-apiserver"]);
    },
  );

  test("after a compaction and a restart an older watch position gets 410", async () => {
    const { body } = await requestAs(cluster.adminKubeconfig, { path: CONFIG_MAPS });
    const position = valueAt(body, ["metadata", "resourceVersion"]);
    await createConfigMap("later");
    await cluster.compactEtcd();
    await cluster.stopApiServer("SIGTERM");
    await cluster.startApiServer();
    expect(await firstWatchEvent(cluster, position)).toMatchObject({ type: "ERROR", object: { code: 410 } });
  });

  function createConfigMap(name: string) {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
    return requestAs(cluster.adminKubeconfig, { method: "POST", path: CONFIG_MAPS, body });
  }
});

test("without the watch cache a compaction alone makes an older watch position get 410", async () => {
  await using cluster = await startControlPlane({ apiServerArgs: ["--watch-cache=false"] });
  const { body } = await requestAs(cluster.adminKubeconfig, { path: CONFIG_MAPS });
  const position = valueAt(body, ["metadata", "resourceVersion"]);
  // Two writes: the newest revision survives a compaction, and a watch that begins with it is still served.
  for (const name of ["later", "latest"]) {
    const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
    await requestAs(cluster.adminKubeconfig, { method: "POST", path: CONFIG_MAPS, body: configMap });
  }
  expect(await firstWatchEvent(cluster, position)).toMatchObject({ type: "ADDED" });
  await cluster.compactEtcd();
  expect(await firstWatchEvent(cluster, position)).toMatchObject({ type: "ERROR", object: { code: 410 } });
});

test("pods of a StatefulSet and a Deployment become ready on simulated nodes and go away again", async () => {
  await using cluster = await startControlPlane({ components: ["kube-controller-manager", "kube-scheduler", "kwok"] });
  expect(await addNodes(cluster.adminKubeconfig, { count: 2 })).toEqual(["node-0", "node-1"]);
  const namespace = await createNamespace("kwok", cluster.adminKubeconfig);
  const apps = `/apis/apps/v1/namespaces/${namespace}`;
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const labels = { app: "simulated" };
  const template = {
    metadata: { labels },
    spec: { initContainers: [{ name: "first", image: "none" }], containers: [{ name: "main", image: "none" }] },
  };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  await requestAs(cluster.adminKubeconfig, {
    method: "POST",
    path: `${apps}/statefulsets`,
    body: {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "set" },
      spec: { ...spec, serviceName: "set" },
    },
  });
  await requestAs(cluster.adminKubeconfig, {
    method: "POST",
    path: `${apps}/deployments`,
    body: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec },
  });
  for (const path of [`${apps}/statefulsets/set`, `${apps}/deployments/web`])
    await eventually(
      async () => {
        const { body } = await requestAs(cluster.adminKubeconfig, { path });
        expect(body).toMatchObject({ status: { readyReplicas: 2, availableReplicas: 2 } });
      },
      { describe: `${path} has two ready replicas` },
    );
  const { body } = await requestAs(cluster.adminKubeconfig, { path: pods });
  const items = valueAt(body, ["items"]);
  const addresses = Array.isArray(items) ? items.map((pod) => valueAt(pod, ["status", "podIP"])) : [];
  expect(new Set(addresses).size).toBe(4);

  // The garbage collector is the real one: deleting the owners deletes their pods.
  for (const path of [`${apps}/statefulsets/set`, `${apps}/deployments/web`])
    await requestAs(cluster.adminKubeconfig, { method: "DELETE", path });
  await eventually(
    async () => expect((await requestAs(cluster.adminKubeconfig, { path: pods })).body).toMatchObject({ items: [] }),
    { describe: "the pods are gone" },
  );
});

test("stopping leaves no process and no folder, and may be repeated", async () => {
  const cluster = await startControlPlane();
  const { folder, processes } = cluster;
  expect(Object.values(processes).every(isAlive)).toBe(true);
  await Promise.all([cluster.stop(), cluster.stop()]);
  expect(Object.values(processes).filter(isAlive)).toEqual([]);
  expect(existsSync(folder)).toBe(false);
});

test.each(["SIGKILL", "SIGINT"] as const)("an owner ended by %s leaves no process and no folder", async (signal) => {
  const program = join(import.meta.dirname, "support/abandoned-control-plane.ts");
  const owner = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface(owner.stdout), "line", { signal: AbortSignal.timeout(150_000) });
  const told: unknown = JSON.parse(String(line));
  const folder = String(valueAt(told, ["folder"]));
  const pids = [valueAt(told, ["processes", "etcd"]), valueAt(told, ["processes", "kube-apiserver"])].map(Number);
  expect(existsSync(folder)).toBe(true);
  expect(pids.every(isAlive)).toBe(true);
  owner.kill(signal);
  await eventually(() => !existsSync(folder) && !pids.some(isAlive), { describe: "nothing is left" });
});

async function whoAmI(kubeconfig: string): Promise<unknown> {
  const { body } = await requestAs(kubeconfig, {
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  });
  return valueAt(body, ["status", "userInfo"]);
}

async function firstWatchEvent({ adminKubeconfig }: ControlPlane, position: unknown): Promise<unknown> {
  const config = await loadKubeconfig({ path: adminKubeconfig, env: {}, homeDir: homedir() });
  const client = createKubeClient({ config });
  const [resourceVersion, stop] = [String(position), new AbortController()];
  try {
    // Far longer than the first event takes, and only there to end what hangs.
    const patience = { timeoutSeconds: 300, idleTimeoutMs: 300_000 };
    const options = { namespace: "default", resourceVersion, signal: stop.signal, ...patience };
    for await (const event of client.watch(ConfigMap, options)) return event;
    throw new Error(`the watch from ${resourceVersion} ended without an event`);
  } finally {
    stop.abort();
    client.close();
  }
}

/** A zombie that has not been reaped yet does not count. */
function isAlive(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !/^\d+ \(.*\) Z/.test(readFileSync(stat, "utf8"));
}
