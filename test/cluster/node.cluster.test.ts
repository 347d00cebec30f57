// The cluster below everything else: hardened pods run on its node, Services balance and have names, volumes outlive pods, and neither
// the kubelet's nor the control plane's end touches a running container.
import { existsSync } from "node:fs";
import { type Api, openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { resolveAssets } from "../../dev/assets/resolver.ts";
import { runProgram } from "../../dev/assets/run-program.ts";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { causeFault } from "./support/node-control.ts";
import { WEB_PORT, webDeployment, webStatefulSet } from "./support/web-pods.ts";

const SLOW = { timeoutMs: 120_000 };
const KUBECTL_MS = 120_000;
const REQUEST_MS = 60_000;
const PATHS: Readonly<Record<string, string>> = { Deployment: "apis/apps/v1", StatefulSet: "apis/apps/v1" };

const { kubeconfig, controlSocket, images } = inject("e2e");
const image = images.find(({ name }) => name === "operator")?.reference ?? "";
let api: Api;
let namespace: string;

beforeAll(async () => {
  api = openApiFromKubeconfig(kubeconfig);
  namespace = await createNamespace("node", kubeconfig);
  await api.expect({
    method: "PATCH",
    path: `/api/v1/namespaces/${namespace}`,
    contentType: "application/merge-patch+json",
    body: { metadata: { labels: { "pod-security.kubernetes.io/enforce": "restricted" } } },
  });
  for (const body of [
    ...webDeployment({ namespace, name: "web", image, replicas: 2 }),
    ...webDeployment({ namespace, name: "fresh", image, replicas: 0 }),
    webStatefulSet({ namespace, name: "keeper", image }),
  ]) {
    const resource = `${body.kind?.toLowerCase()}s`;
    const path = `/${PATHS[body.kind ?? ""] ?? "api/v1"}/namespaces/${namespace}/${resource}`;
    await api.expect({ method: "POST", path, body });
  }
});
afterAll(async () => {
  await api?.expect({ method: "DELETE", path: `/api/v1/namespaces/${namespace}` }, [404]);
  api?.close();
});

interface Pod {
  readonly name: string;
  readonly uid: string;
  readonly containerId: string;
  readonly restarts: number;
}

/** The pods of an app that are Ready and not on their way out. */
async function readyPods(app: string): Promise<readonly Pod[]> {
  const { body } = await api.expect({ path: `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${app}` });
  const items = valueAt(body, ["items"]);
  if (!Array.isArray(items)) throw new Error("a list of pods without items");
  return items
    .filter((pod) => valueAt(pod, ["metadata", "deletionTimestamp"]) === undefined)
    .filter((pod) => valueAt(pod, ["status", "containerStatuses", 0, "ready"]) === true)
    .map((pod) => ({
      name: String(valueAt(pod, ["metadata", "name"])),
      uid: String(valueAt(pod, ["metadata", "uid"])),
      containerId: String(valueAt(pod, ["status", "containerStatuses", 0, "containerID"])),
      restarts: Number(valueAt(pod, ["status", "containerStatuses", 0, "restartCount"])),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const whenReady = (app: string, count: number): Promise<readonly Pod[]> =>
  eventually(
    async () => {
      const pods = await readyPods(app);
      expect(pods).toHaveLength(count);
      return pods;
    },
    { ...SLOW, describe: `${count} ready pods of ${app}` },
  );

/** Through the API server's pods/proxy. */
async function askPod(pod: string, path: string, put?: string): Promise<string> {
  const { body } = await api.expect({
    path: `/api/v1/namespaces/${namespace}/pods/${pod}:${WEB_PORT}/proxy${path}`,
    ...(put === undefined ? {} : { method: "PUT", body: put }),
  });
  return String(body);
}

async function serviceAddress(name: string): Promise<string> {
  const { body } = await api.expect({ path: `/api/v1/namespaces/${namespace}/services/${name}` });
  return String(valueAt(body, ["spec", "clusterIP"]));
}

async function fetchText(url: string): Promise<string> {
  const answer = await fetch(url, { headers: { connection: "close" }, signal: AbortSignal.timeout(REQUEST_MS) });
  return answer.text();
}

test("hardened pods reach Ready where Pod Security restricted is enforced, and a ClusterIP balances over both", async () => {
  const pods = await whenReady("web", 2);
  const address = await serviceAddress("web");
  const seen = new Set<string>();
  await eventually(async () => seen.add(await fetchText(`http://${address}/`)).size === 2, SLOW);
  expect([...seen].sort()).toEqual(pods.map(({ name }) => name));
});

test("a pod finds Services by name, itself behind one of them, and the API server", async () => {
  const pods = await whenReady("web", 2);
  const [first] = pods;
  const seen = new Set<string>();
  const askFirst = (url: string): Promise<string> => askPod(first?.name ?? "", `/fetch?url=${encodeURIComponent(url)}`);
  await eventually(async () => seen.add(await askFirst("http://web/")).size === 2, SLOW);
  expect([...seen].sort()).toEqual(pods.map(({ name }) => name));
  expect(pods.map(({ name }) => name)).toContain(await askFirst(`http://web.${namespace}.svc.cluster.local/`));
  // Without the cluster's certificate the pod rejects it, not the network.
  await expect(askFirst("https://kubernetes.default.svc/")).rejects.toThrow(/certificate|UNABLE_TO_VERIFY/i);
  await expect(askFirst("http://nobody/")).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/);
});

test("kubectl reads a pod's log and runs programs in it", async () => {
  const [pod] = await whenReady("web", 2);
  const program = (await resolveAssets(["kubectl"])).get("kubectl") ?? "";
  const kubectl = (...args: readonly string[]): Promise<string> =>
    runProgram({ program, args: ["--kubeconfig", kubeconfig, "-n", namespace, ...args], timeoutMs: KUBECTL_MS });
  expect(await kubectl("logs", pod?.name ?? "")).toContain(`listening as ${pod?.name}`);
  const who = await kubectl("exec", pod?.name ?? "", "--", "/usr/bin/node", "-p", "process.getuid()");
  expect(who.trim()).toBe("3473");
});

test("a claim of the default class is bound immediately; its data survives the pod and is deleted with the claim", async () => {
  const [before] = await whenReady("keeper", 1);
  expect(await askPod("keeper-0", "/kept", "remember me")).toContain("remember me");
  await api.expect({ method: "DELETE", path: `/api/v1/namespaces/${namespace}/pods/keeper-0` });
  await eventually(
    async () => {
      const [after] = await readyPods("keeper");
      expect(after?.uid).not.toBe(before?.uid);
      expect(after).toBeDefined();
    },
    { ...SLOW, describe: "another keeper-0" },
  );
  expect(await askPod("keeper-0", "/kept")).toContain("remember me");

  const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/data-keeper-0`;
  const name = valueAt((await api.expect({ path: claims })).body, ["spec", "volumeName"]);
  const volume = `/api/v1/persistentvolumes/${name}`;
  const folder = String(valueAt((await api.expect({ path: volume })).body, ["spec", "local", "path"]));
  expect(existsSync(`${folder}/kept`)).toBe(true);
  await api.expect({ method: "DELETE", path: `/apis/apps/v1/namespaces/${namespace}/statefulsets/keeper` });
  await api.expect({ method: "DELETE", path: claims });
  await eventually(async () => (await api.send({ path: volume })).status === 404, SLOW);
  expect(existsSync(folder)).toBe(false);
});

test.each([
  { name: "a kubelet restart", faults: ["restart-kubelet"] },
  { name: "an API server that is killed and comes back", faults: ["stop-api-server", "start-api-server"] },
  { name: "an etcd restart", faults: ["restart-etcd"] },
] as const)("$name leaves containers running and serving, and new pods start after it", async ({ faults }) => {
  const before = await whenReady("web", 2);
  const address = await serviceAddress("web");
  const over = new AbortController();
  const answers: string[] = [];
  const asking = (async () => {
    while (!over.signal.aborted) answers.push(await fetchText(`http://${address}/`).catch(String));
  })();
  try {
    for (const fault of faults) await causeFault(controlSocket, fault);
  } finally {
    over.abort();
    await asking;
  }
  const names = before.map(({ name }) => name);
  expect(answers.length).toBeGreaterThan(1);
  expect(answers.filter((answer) => !names.includes(answer))).toEqual([]);
  expect(await whenReady("web", 2)).toEqual(before);
  await scaleFresh(1);
  await whenReady("fresh", 1);
  await scaleFresh(0);
  await whenReady("fresh", 0);
});

/** Of a Deployment beside the one that is watched, so that nothing of that one is on its way out. */
async function scaleFresh(replicas: number): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/fresh`;
  const contentType = "application/merge-patch+json";
  await eventually(() => api.expect({ method: "PATCH", path, contentType, body: { spec: { replicas } } }), SLOW);
}
