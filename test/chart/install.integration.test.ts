// Both charts installed, upgraded and removed by the real Helm on a real API server: what an upgrade must leave alone, and what must
// survive an uninstall. Nothing runs here; the operator itself runs in rbac.test.ts.
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Api, openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../../dev/control-plane/control-plane.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { instance } from "../harness/fixtures/manifests.ts";
import { CRD_CHART, type Helm, OPERATOR_CHART, openHelm, type Release } from "../harness/helm/helm.ts";

const NAMESPACE = "ops";
const SECRET_LIMIT_BYTES = 1_048_576;
const DEPLOYMENT = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/firebolt-operator`;
const VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/firebolt-operator";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const INSTANCES = "/apis/compute.firebolt.io/v1alpha1/namespaces/default/fireboltinstances";

const operator: Release = { name: "firebolt-operator", namespace: NAMESPACE, args: ["--create-namespace"] };
const crds: Release = { name: "firebolt-crds", namespace: NAMESPACE, chart: CRD_CHART };

let cluster: ControlPlane;
let api: Api;
let helm: Helm;
beforeAll(async () => {
  [cluster, helm] = await Promise.all([startControlPlane(), openHelm()]);
  api = openApiFromKubeconfig(cluster.adminKubeconfig);
}, 300_000);
afterAll(async () => {
  api?.close();
  await helm?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

const get = async (path: string): Promise<unknown> => (await api.expect({ path }, [404])).body;
const uninstall = (name: string) =>
  helm.expect(["uninstall", name, `--namespace=${NAMESPACE}`, `--kubeconfig=${cluster.adminKubeconfig}`]);
const crdNames = async (): Promise<readonly unknown[]> => {
  const items = valueAt(await get(CRDS), ["items"]);
  return Array.isArray(items) ? items.map((item: unknown) => valueAt(item, ["metadata", "name"])) : [];
};

/** Bytes of the Secret in which Helm keeps the newest version of a release. */
async function releaseBytes(name: string): Promise<number> {
  const list = await get(`/api/v1/namespaces/${NAMESPACE}/secrets?labelSelector=owner%3Dhelm,name%3D${name}`);
  const items = valueAt(list, ["items"]);
  const sizes = Array.isArray(items) ? items.map((item) => JSON.stringify(valueAt(item, ["data"])).length) : [];
  return Math.max(...sizes);
}

test("a first install brings the CRDs along, and both releases fit their Secrets with room", async () => {
  await helm.install(operator, cluster.adminKubeconfig);
  expect(await crdNames()).toHaveLength(3);
  // From the operator's chart to the chart of their own.
  await helm.install({ ...crds, args: ["--take-ownership"] }, cluster.adminKubeconfig);
  for (const { name } of [operator, crds]) {
    const share = (await releaseBytes(name)) / SECRET_LIMIT_BYTES;
    console.log(`release ${name}: ${Math.round(share * 100)} % of what a Secret can hold`);
    expect(share).toBeLessThan(0.9);
  }
  await eventually(async () => {
    const { body } = await api.expect({ path: `${CRDS}/fireboltengines.compute.firebolt.io` });
    expect(valueAt(body, ["status", "conditions"])).toContainEqual(
      expect.objectContaining({ type: "Established", status: "True" }),
    );
    expect(body).toMatchObject({ metadata: { annotations: { "helm.sh/resource-policy": "keep" } } });
  });
});

test("an upgrade leaves the CA bundle of the manager alone", async () => {
  const bundle = Buffer.from("-----BEGIN CERTIFICATE-----\n").toString("base64");
  const body = [0, 1, 2].map((index) => ({
    op: "add",
    path: `/webhooks/${index}/clientConfig/caBundle`,
    value: bundle,
  }));
  // As packages/kube/src/certificates/managed/managed-certificate.ts writes it.
  await api.expect({
    method: "PATCH",
    path: `${VALIDATING}?fieldManager=firebolt-operator`,
    body,
    contentType: "application/json-patch+json",
  });
  const before = await bundles();
  const values = { webhook: { validatingWebhookConfiguration: { timeoutSeconds: 7 } } };
  await helm.upgrade({ ...operator, values }, cluster.adminKubeconfig);
  expect(valueAt(await get(VALIDATING), ["webhooks", 0, "timeoutSeconds"])).toBe(7);
  expect(await bundles()).toEqual(before);
});

async function bundles(): Promise<readonly unknown[]> {
  const configuration = await get(VALIDATING);
  return [0, 1, 2].map((index) => valueAt(configuration, ["webhooks", index, "clientConfig", "caBundle"]));
}

test("an upgrade without a change of image, and a newer chart of the same program, start no pod again", async () => {
  await helm.upgrade(operator, cluster.adminKubeconfig);
  const before = await get(DEPLOYMENT);
  await helm.upgrade(operator, cluster.adminKubeconfig);
  const folder = await mkdtemp(join(tmpdir(), "chart-"));
  try {
    const chart = join(folder, "firebolt-operator");
    await cp(OPERATOR_CHART, chart, { recursive: true });
    const file = join(chart, "Chart.yaml");
    await writeFile(file, (await readFile(file, "utf8")).replace(/^version: .*$/m, "version: 99.0.0"));
    await helm.upgrade({ ...operator, chart }, cluster.adminKubeconfig);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const after = await get(DEPLOYMENT);
  expect(after).toMatchObject({ metadata: { labels: { "helm.sh/chart": "firebolt-operator-99.0.0" } } });
  expect(valueAt(after, ["metadata", "generation"])).toBe(valueAt(before, ["metadata", "generation"]));
});

test("from the whole cluster to some namespaces and back: nothing of the other shape is left", async () => {
  const roles = async (path: string): Promise<readonly unknown[]> => {
    const items = valueAt(await get(`/apis/rbac.authorization.k8s.io/v1/${path}`), ["items"]);
    const names = Array.isArray(items) ? items.map((item: unknown) => String(valueAt(item, ["metadata", "name"]))) : [];
    return names.filter((name) => name.startsWith("firebolt-operator-manager"));
  };
  await helm.upgrade({ ...operator, values: { watchNamespaces: ["default"] } }, cluster.adminKubeconfig);
  expect(await roles("clusterroles")).toEqual([]);
  expect(await roles("namespaces/default/roles")).toEqual(["firebolt-operator-manager"]);
  await helm.upgrade(operator, cluster.adminKubeconfig);
  expect(await roles("clusterroles")).toEqual(["firebolt-operator-manager"]);
  expect(await roles("namespaces/default/roles")).toEqual([]);
});

test("cert-manager objects are rendered only if the cluster serves them", async () => {
  const values = { webhook: { certMode: "cert-manager" } };
  await expect(helm.upgrade({ ...operator, values }, cluster.adminKubeconfig)).rejects.toThrow(
    "this cluster does not serve cert-manager.io/v1",
  );
});

test("the pair that Helm makes stays the same from upgrade to upgrade", async () => {
  const values = { webhook: { certMode: "helm" } };
  const pair = () => get(`/api/v1/namespaces/${NAMESPACE}/secrets/firebolt-operator-webhook-cert`);
  // The manager wrote the bundles until now: Helm takes them over only with a flag.
  await expect(helm.upgrade({ ...operator, values }, cluster.adminKubeconfig)).rejects.toThrow("clientConfig.caBundle");
  await helm.upgrade({ ...operator, values, args: ["--force-conflicts"] }, cluster.adminKubeconfig);
  const [first, generation] = [
    valueAt(await pair(), ["data"]),
    valueAt(await get(DEPLOYMENT), ["metadata", "generation"]),
  ];
  await helm.upgrade({ ...operator, values }, cluster.adminKubeconfig);
  expect(valueAt(await pair(), ["data"])).toEqual(first);
  expect(valueAt(await get(DEPLOYMENT), ["metadata", "generation"])).toBe(generation);
  expect(await bundles()).toEqual(Array(3).fill(valueAt(first, ["ca.crt"])));
});

test("uninstalling both leaves the CRDs and what was made with them", async () => {
  await helm.upgrade({ ...operator, values: { webhook: { enabled: false } } }, cluster.adminKubeconfig);
  const body = instance({ name: "kept", namespace: "default" });
  // The API server calls the webhooks until it observes their deletion.
  await eventually(() => api.expect({ method: "POST", path: `${INSTANCES}?dryRun=All`, body }));
  await api.expect({ method: "POST", path: INSTANCES, body });
  await uninstall(operator.name);
  await uninstall(crds.name);
  expect(await get(DEPLOYMENT)).toMatchObject({ code: 404 });
  expect(await crdNames()).toHaveLength(3);
  expect(await get(`${INSTANCES}/kept`)).toMatchObject({ metadata: { name: "kept" } });
});

test("without crds.keep the CRDs go with their release", async () => {
  const values = { crds: { keep: false, labels: { team: "data" }, annotations: { "example.com/a": "b" } } };
  await helm.install({ ...crds, values, args: ["--take-ownership"] }, cluster.adminKubeconfig);
  expect(await get(`${CRDS}/fireboltinstances.compute.firebolt.io`)).toMatchObject({
    metadata: { labels: { team: "data" }, annotations: { "example.com/a": "b" } },
  });
  await uninstall(crds.name);
  await eventually(async () => expect(await crdNames()).toEqual([]));
});
