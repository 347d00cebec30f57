// What the token in a gateway pod can do to engines, with a real API server, a real Role and the real token: stamp a wake, with
// webhooks reachable or not, and nothing else while webhooks are on.

import { readFileSync } from "node:fs";
import { type Api, openApi, openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { parse } from "yaml";
import { wakeAgentRules } from "../../src/gateway/wake-container.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { engine } from "../harness/fixtures/manifests.ts";
import { openWebhookHarness, type WebhookHarness } from "./support/webhook-harness.ts";

const contentType = "application/merge-patch+json";
const STAMP = "firebolt.io/wake-requested";

let harness: WebhookHarness;
let admin: Api;
let gateway: Api;
let other: Api;
let engines: string;

/** An account with the permissions that the operator gives to gateways, and its token. */
async function openAs(account: string): Promise<Api> {
  const { namespace } = harness;
  const metadata = { name: account, namespace };
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: account };
  const subjects = [{ kind: "ServiceAccount", name: account, namespace }];
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await admin.expect({ method: "POST", path: accounts, body: { metadata } });
  await admin.expect({ method: "POST", path: `${rbac}/roles`, body: { metadata, rules: wakeAgentRules() } });
  await admin.expect({ method: "POST", path: `${rbac}/rolebindings`, body: { metadata, roleRef, subjects } });
  const body = { spec: { expirationSeconds: 600 } };
  const answer = await admin.expect({ method: "POST", path: `${accounts}/${account}/token`, body });
  const config: unknown = parse(readFileSync(inject("adminKubeconfig"), "utf8"));
  const cluster = (key: string) => String(valueAt(config, ["clusters", 0, "cluster", key]));
  const ca = Buffer.from(cluster("certificate-authority-data"), "base64").toString("utf8");
  const api = openApi({ url: cluster("server"), ca, token: String(valueAt(answer.body, ["status", "token"])) });
  // Rights are learnt by a watch of the API server's own.
  await eventually(async () => (await api.send({ path: engines })).status === 200, {
    describe: `permissions of ${account}`,
  });
  return api;
}

beforeAll(async () => {
  harness = await openWebhookHarness("admission-fence");
  admin = openApiFromKubeconfig(inject("adminKubeconfig"));
  engines = `/apis/compute.firebolt.io/v1alpha1/namespaces/${harness.namespace}/fireboltengines`;
  gateway = await openAs("lakeside-gateway");
  other = await openAs("pipeline");
});
afterAll(async () => {
  for (const api of [gateway, other, admin]) api?.close();
  await harness?.[Symbol.asyncDispose]();
});

async function created(name: string, metadata: object = {}, changes: object = {}): Promise<string> {
  const manifest = engine({ name });
  const body = { ...manifest, metadata: { ...manifest.metadata, ...metadata }, ...changes };
  await admin.expect({ method: "POST", path: engines, body });
  return `${engines}/${name}`;
}
const patchBy = async (api: Api, path: string, body: object) => {
  const answer = await api.send({ method: "PATCH", path, body, contentType });
  return { status: answer.status, message: String(valueAt(answer.body, ["message"]) ?? "") };
};
const stamp = (time: string | null) => ({ metadata: { annotations: { [STAMP]: time } } });

describe("webhooks on", () => {
  const privileged = { containers: [{ name: "x", image: "x", securityContext: { privileged: true } }] };
  test.each([
    { what: "replicas", body: { spec: { replicas: 3 } }, names: "spec" },
    { what: "the pod template", body: { spec: { template: { spec: privileged } } }, names: "spec" },
    { what: "the whole spec", body: { spec: null }, names: "spec" },
    { what: "labels", body: { metadata: { labels: { a: "b" } } }, names: "metadata.labels" },
    { what: "a removed label", body: { metadata: { labels: { first: null } } }, names: "metadata.labels" },
    { what: "finalizers", body: { metadata: { finalizers: ["example.com/x"] } }, names: "metadata.finalizers" },
    {
      what: "owners",
      body: { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Secret", name: "s", uid: "u" }] } },
      names: "metadata.ownerReferences",
    },
    {
      what: "another annotation beside the stamp",
      body: { metadata: { annotations: { [STAMP]: "now", "firebolt.io/reset-failed": "1" } } },
      names: "metadata.annotations[firebolt.io/reset-failed]",
    },
    {
      what: "a changed annotation",
      body: { metadata: { annotations: { mine: "2" } } },
      names: "metadata.annotations[mine]",
    },
    {
      what: "a removed annotation",
      body: { metadata: { annotations: { mine: null } } },
      names: "metadata.annotations[mine]",
    },
  ])("a gateway changes neither $what", async ({ what, body, names }) => {
    const name = `e-${what.replaceAll(" ", "-")}`;
    const path = await created(name, { labels: { first: "1" }, annotations: { mine: "1" } });
    const refused = await patchBy(gateway, path, body);
    expect(refused).toEqual({ status: 403, message: expect.stringContaining(`${names}: Forbidden: `) });
    expect(refused.message).toContain("is the service account of a gateway");
    // The same change by an account with the same permissions and another name.
    if (!what.startsWith("the pod")) expect((await patchBy(other, path, body)).status).toBe(200);
  });

  test("neither does it touch an engine on its way out", async () => {
    const path = await created("leaving", { finalizers: ["example.com/hold"] });
    await admin.expect({ method: "DELETE", path });
    const release = { metadata: { finalizers: null } };
    expect((await patchBy(gateway, path, release)).status).toBe(403);
    expect((await patchBy(gateway, path, stamp("2026-01-01T00:00:00Z"))).status).toBe(200);
    expect((await patchBy(other, path, release)).status).toBe(200);
    expect((await admin.send({ path })).status).toBe(404);
  });

  test("it stamps engines, with and without annotations or a spec, again and away", async () => {
    const paths = [
      await created("plain"),
      await created("annotated", { annotations: { mine: "1" } }),
      await created("bare", {}, { spec: undefined }),
    ];
    for (const path of paths)
      for (const time of ["2026-01-01T00:00:00Z", "2026-01-01T00:00:10Z", null])
        expect(await patchBy(gateway, path, stamp(time)), path).toMatchObject({ status: 200 });
  });
});

test("while no webhook can be reached it still stamps, and still changes nothing else", async () => {
  const path = await created("outage", { annotations: { mine: "1" } });
  await harness.stopServer();
  expect(await patchBy(gateway, path, stamp("2026-01-01T00:00:00Z"))).toMatchObject({ status: 200 });
  for (const body of [{ spec: { replicas: 5 } }, { metadata: { labels: { a: "b" } } }])
    expect((await patchBy(gateway, path, body)).status).toBe(500);
  expect((await patchBy(other, path, { metadata: { labels: { a: "b" } } })).status).toBe(200);
});
