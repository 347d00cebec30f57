// The notices that `status` prints above its tree: an operator that is not running, read from the Deployments and
// leases of a real API server, and a namespace that is being deleted. And what the tree looks like on a terminal of 80
// columns.
import type { KubeObject } from "@firebolt-operator/kube";
import { leaseResource } from "@firebolt-operator/kube/election";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { KINDS } from "../../src/instance/cluster/kinds.ts";
import { eventually, requestAs } from "../harness/control-plane/requests.ts";
import { runPlugin } from "../harness/programs/plugin-process.ts";
import { NAMESPACE } from "./support/plugin-cluster.ts";
import { openPluginHarness, type PluginHarness } from "./support/plugin-harness.ts";
import { addPluginUser } from "./support/users.ts";

const SYSTEM = "operator-system";
const LEASE = { namespace: SYSTEM, name: "c662f7f5.firebolt.io" };
const DEPLOYMENT = { namespace: SYSTEM, name: "firebolt-operator" };

let harness: PluginHarness;
const status = async (...args: readonly string[]): Promise<string> =>
  (await harness.cluster.plugin(["status", ...args])).stdout;

async function createNamespace(name: string): Promise<void> {
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  await requestAs(harness.cluster.controlPlane.adminKubeconfig, { method: "POST", path: "/api/v1/namespaces", body });
}

/** As the chart makes it; its pods are simulated and ready as soon as there are any. */
const deployment = (replicas: number) => ({
  metadata: {
    ...DEPLOYMENT,
    labels: {
      "control-plane": "controller-manager",
      "app.kubernetes.io/component": "operator",
      "app.kubernetes.io/instance": "firebolt-operator",
      "app.kubernetes.io/version": "9.9.9",
      "helm.sh/chart": "firebolt-operator-9.9.9",
    },
  },
  spec: {
    replicas,
    selector: { matchLabels: { app: "operator" } },
    template: {
      metadata: { labels: { app: "operator" } },
      spec: {
        containers: [{ name: "manager", image: "example.com/operator:9.9.9", args: ["manager", "--leader-elect"] }],
      },
    },
  },
});

beforeAll(async () => {
  harness = await openPluginHarness();
  await createNamespace(SYSTEM);
  await harness.cluster.client.create<KubeObject>(FireboltEngine, {
    metadata: { name: "nowhere", namespace: NAMESPACE },
    ...{
      spec: {
        instanceRef: "lakeside",
        replicas: 1,
        template: { spec: { nodeSelector: { "example.com/pool": "that-does-not-exist" } } },
      },
    },
  });
}, 300_000);
afterAll(() => harness?.[Symbol.asyncDispose]());

describe("the operator's Deployment", () => {
  test("absent, with nothing that waits for it: not a word", async () => {
    await eventually(async () => expect(await status()).toMatch(/nodeSelector or affinity/));
    expect(await status()).toMatch(/^NAME /);
  });

  test("scaled to 0", async () => {
    await harness.cluster.client.create<KubeObject>(KINDS.Deployment, deployment(0));
    const lines = [
      "operator operator-system/firebolt-operator is scaled to 0, so nothing changes until it runs again",
      "kubectl scale deployment firebolt-operator -n operator-system --replicas=1",
    ];
    expect((await status()).split("\n").slice(0, 2)).toEqual([`!  ${lines[0]}`, `next:  ${lines[1]}`]);
    expect(JSON.parse(await status("-o", "json"))).toMatchObject({ notices: [{ why: lines[0], next: lines[1] }] });
    for (const args of [
      ["engine", "status", "nowhere"],
      ["instance", "status"],
    ])
      expect((await harness.cluster.plugin(args)).stdout).toContain(lines[0]);
    const scale = ["engine", "scale", "nowhere", "--replicas", "2", "--wait", "--timeout", "1s"];
    expect((await harness.cluster.plugin(scale)).stderr).toContain(`\n${lines[0]}; next: ${lines[1]}\n`);
    expect((await harness.cluster.plugin(["version"])).stdout).toMatch(
      /operator: {2}9\.9\.9 in operator-system\/firebolt-operator \(0 of 0 ready, example\.com\/operator:9\.9\.9\)/,
    );
  });

  test("ready with a leader: no notice; with an expired lease: no leader", async () => {
    const patch = { type: "merge", body: { spec: { replicas: 1 } } } as const;
    await harness.cluster.client.patch(KINDS.Deployment, DEPLOYMENT, patch);
    const renewed = (ms: number) => ({
      holderIdentity: "operator-1",
      leaseDurationSeconds: 15,
      renewTime: new Date(Date.now() - ms).toISOString().replace("Z", "000Z"),
    });
    await harness.cluster.client.create<KubeObject>(leaseResource, { metadata: LEASE, ...{ spec: renewed(0) } });
    await eventually(
      async () => {
        // As its holder would, for as long as it takes until the pod is ready.
        await harness.cluster.client.patch(leaseResource, LEASE, { type: "merge", body: { spec: renewed(0) } });
        expect(await status()).toMatch(/^NAME /);
      },
      { timeoutMs: 120_000 },
    );
    await harness.cluster.client.patch(leaseResource, LEASE, { type: "merge", body: { spec: renewed(600_000) } });
    expect(await status()).toMatch(
      /^! {2}operator operator-system\/firebolt-operator has no leader: its lease operator-system\/c662f7f5\.firebolt\.io was last renewed 10m.* ago\nnext: {2}see why: kubectl logs deployment\/firebolt-operator -n operator-system\n/,
    );
    await harness.cluster.client.delete(leaseResource, LEASE);
  });
});

test("a namespace that does not exist is not found, in text and as data; who may not read namespaces sees what there is", async () => {
  const stderr = "error: namespace nope does not exist; use another one with -n: kubectl get namespaces\n";
  for (const format of ["text", "json"])
    expect(await harness.cluster.plugin(["status", "-n", "nope", "-o", format])).toEqual({
      code: 3,
      stdout: "",
      stderr,
    });
  const kinds = { apiGroups: ["", "apps", "compute.firebolt.io"], verbs: ["get", "list"] };
  const resources = ["pods", "services", "statefulsets", "deployments", "fireboltinstances", "fireboltengines"];
  const kubeconfig = await addPluginUser(harness.cluster.controlPlane, "no-namespaces", [{ ...kinds, resources }]);
  expect(await runPlugin(["status", "-n", "nope", "--kubeconfig", kubeconfig])).toMatchObject({
    code: 0,
    stdout: "No Firebolt resources found in namespace nope. Use -A to search all namespaces.\n",
  });
});

test("a namespace that is being deleted", async () => {
  await createNamespace("doomed");
  await harness.cluster.client.create<KubeObject>(FireboltEngine, {
    metadata: { name: "held", namespace: "doomed", finalizers: ["example.com/held"] },
    ...{ spec: { instanceRef: "gone", replicas: 0 } },
  });
  const path = "/api/v1/namespaces/doomed";
  await requestAs(harness.cluster.controlPlane.adminKubeconfig, { method: "DELETE", path });
  await eventually(async () =>
    expect(await status("-n", "doomed")).toMatch(
      /^! {2}namespace doomed is being deleted \(for \d+s\): .*\nnext: {2}wait; objects that remain: kubectl get fireboltengine,fireboltinstance,pod,pvc -n doomed\n/,
    ),
  );
  expect(await status("-A")).toContain("namespace doomed is being deleted");
  await harness.cluster.client.patch(
    FireboltEngine,
    { namespace: "doomed", name: "held" },
    { type: "merge", body: { metadata: { finalizers: null } } },
  );
});

test("on a terminal of 80 columns every line fits but for commands, which stay whole", async () => {
  const env = { COLUMNS: "80", NO_COLOR: "1" };
  const args = [`--kubeconfig=${harness.cluster.controlPlane.adminKubeconfig}`, "-n", NAMESPACE];
  const long = "correct nodeSelector or affinity in the pod template, or label a node:";
  for (const words of [["status"], ["engine", "status", "nowhere"], ["engine", "create", "--help"], ["--help"]]) {
    const { stdout } = await runPlugin([...words, ...args], { terminal: true, env });
    const lines = stdout.replaceAll("\r", "").split("\n");
    expect(lines.filter((line) => line.length > 80 && !line.includes("kubectl "))).toEqual([]);
    if (words[0] === "status") expect(stdout).not.toContain(long);
  }
  expect(await status()).toContain(long);
});
