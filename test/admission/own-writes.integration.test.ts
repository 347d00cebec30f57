// The operator as the chart installs it, with its webhook unreachable: nothing serves the Service that the API server
// calls. The operator's own writes pass (the id of an instance, the replicas of an engine that a query wakes); edits by
// other clients do not.
import { join } from "node:path";
import { type Api, openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { addNodes } from "../../dev/control-plane/nodes.ts";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { engine, instance } from "../harness/fixtures/manifests.ts";
import { managerArgs } from "../harness/helm/chart-flags.ts";
import { type Helm, openHelm } from "../harness/helm/helm.ts";
import { buildProgram, type OperatorProcess, startOperator } from "../harness/programs/operator-process.ts";

const MERGE = "application/merge-patch+json";
const STAMP = "firebolt.io/wake-requested";
// Not the names that the chart would choose itself.
const [SYSTEM, ACCOUNT] = ["platform", "manager"];
const VALUES = { serviceAccount: { name: ACCOUNT }, leaderElection: { enabled: false }, metrics: { secure: false } };
const PATIENCE = { timeoutMs: 90_000 };
const UNREACHABLE = [500, expect.stringContaining("failed calling webhook")];

let cluster: ControlPlane;
let helm: Helm;
let admin: Api;
let namespace: string;
let ours: string;

beforeAll(async () => {
  const crds = join(import.meta.dirname, "../../config/crd");
  const control = startControlPlane({ crds, components: ["kube-controller-manager", "kube-scheduler", "kwok"] });
  [cluster, helm] = await Promise.all([control, openHelm(), buildProgram()]);
  admin = openApiFromKubeconfig(cluster.adminKubeconfig);
  await addNodes(cluster.adminKubeconfig, { count: 1 });
  namespace = await createNamespace("tenant", cluster.adminKubeconfig);
  ours = `/apis/compute.firebolt.io/v1alpha1/namespaces/${namespace}`;
  // Before there is a webhook, and so without an id.
  await admin.expect({ method: "POST", path: `${ours}/fireboltinstances`, body: instance({ name: "main" }) });
  const autoStop = { enabled: true, activeReplicas: 1, idleTimeout: "30m" };
  const stopped = engine({ name: "sleeper", instanceRef: "main", replicas: 0, autoStop });
  await admin.expect({ method: "POST", path: `${ours}/fireboltengines`, body: stopped });
  const release = { name: "fo", namespace: SYSTEM, values: VALUES, args: ["--skip-crds", "--create-namespace"] };
  await helm.install(release, cluster.adminKubeconfig);
  await untilUnreachable();
}, 300_000);

afterAll(async () => {
  admin?.close();
  await helm?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

const read = async (path: string): Promise<unknown> => (await admin.expect({ path: `${ours}/${path}` })).body;
async function patch(api: Api, path: string, body: object): Promise<readonly [number, string]> {
  const answer = await api.send({ method: "PATCH", path: `${ours}/${path}`, body, contentType: MERGE });
  return [answer.status, String(valueAt(answer.body, ["message"]) ?? "")];
}

/** The API server observes a registration through its own watch. */
function untilUnreachable(): Promise<unknown> {
  const edit = { spec: { replicas: 3 } };
  return eventually(
    async () => {
      expect(await patch(admin, "fireboltengines/sleeper?dryRun=All", edit)).toEqual(UNREACHABLE);
    },
    { describe: "a webhook that cannot be reached" },
  );
}

async function start(): Promise<OperatorProcess> {
  const objects = await helm.render({ name: "fo", namespace: SYSTEM, values: VALUES });
  // Its own webhook server stays off, or the API server of this test might find it on the loopback.
  const args = managerArgs(objects).filter((arg) => !arg.startsWith("--webhook"));
  const kubeconfig = await cluster.serviceAccountKubeconfig(SYSTEM, ACCOUNT);
  return startOperator([...args, "--enable-webhooks=false", `--kubeconfig=${kubeconfig}`]);
}

/** An account that may do what administrators may. */
async function openAs(where: string, name: string): Promise<Api> {
  const metadata = { name: `${where}-${name}` };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" };
  const subjects = [{ kind: "ServiceAccount", name, namespace: where }];
  await admin.expect({
    method: "POST",
    path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    body: { metadata, roleRef, subjects },
  });
  const accounts = `/api/v1/namespaces/${where}/serviceaccounts`;
  await admin.expect({ method: "POST", path: accounts, body: { metadata: { name } } }, [409]);
  const api = openApiFromKubeconfig(await cluster.serviceAccountKubeconfig(where, name));
  await eventually(async () => (await api.send({ path: `${ours}/fireboltengines` })).status === 200);
  return api;
}

test("an instance gets its id, a query wakes an engine, and a user's edit is rejected with the name of the Service", async () => {
  await using operator = await start();
  const sleeperIs = (want: object) =>
    eventually(
      async () => expect(await read("fireboltengines/sleeper"), operator.stderr()).toMatchObject(want),
      PATIENCE,
    );
  // Nothing of an instance starts before it has an id.
  await sleeperIs({ status: { phase: "stopped" } });
  expect(valueAt(await read("fireboltinstances/main"), ["spec", "id"])).toMatch(/^.{26}$/);
  // As the agent beside a gateway does it.
  const stamped = { metadata: { annotations: { [STAMP]: new Date().toISOString() } } };
  expect(await patch(admin, "fireboltengines/sleeper", stamped)).toEqual([200, ""]);
  await sleeperIs({ spec: { replicas: 1 }, status: { phase: "stable" } });
  const [status, message] = await patch(admin, "fireboltengines/sleeper", { spec: { replicas: 2 } });
  expect(status).toBe(500);
  expect(message).toContain('failed calling webhook "vfireboltengine.compute.firebolt.io"');
  expect(message).toContain("fo-firebolt-operator-webhook");
}, 300_000);

test("the exception is for one field and for one account", async () => {
  const operator = await openAs(SYSTEM, ACCOUNT);
  const others = [await openAs(SYSTEM, "default"), await openAs(namespace, ACCOUNT), await openAs(SYSTEM, "manager2")];
  try {
    const path = "fireboltengines/sleeper?dryRun=All";
    expect(await patch(operator, path, { spec: { replicas: 4 } })).toEqual([200, ""]);
    for (const spec of [
      { replicas: 4, template: { spec: { hostNetwork: true } } },
      { engineClassRef: "gpu" },
      { autoStop: null },
    ])
      expect(await patch(operator, path, { spec }), JSON.stringify(spec)).toEqual(UNREACHABLE);
    for (const other of others) expect(await patch(other, path, { spec: { replicas: 4 } })).toEqual(UNREACHABLE);
    const created = { method: "POST", path: `${ours}/fireboltengines`, body: engine({ name: "new" }) } as const;
    expect((await operator.send(created)).status).toBe(500);
  } finally {
    for (const api of [operator, ...others]) api.close();
  }
});
