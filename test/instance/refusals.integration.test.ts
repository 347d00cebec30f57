// What the API server rejects for reasons outside the spec, on a real control plane: quotas, webhooks that cannot be
// called, applies that it cannot merge, and a database's Secret that is deleted. Each is reported on the instance, is
// never permanent, and clears automatically.
import { createKubeClient } from "@firebolt-operator/kube/client";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { OPERATOR_DEFAULTS } from "../../src/api/operator-defaults.ts";
import { KINDS } from "../../src/instance/cluster/kinds.ts";
import { isPermanentRejection, isRejection } from "../../src/instance/model/rejection.ts";
import { renderInstanceObjects } from "../../src/instance/render/instance-objects.ts";
import { eventually } from "../harness/control-plane/requests.ts";
import { clusterConfig } from "../harness/control-plane/test-client.ts";
import type { TestNamespace } from "./support/instance-cluster.ts";
import { conditionOf, type InstanceHarness, openInstanceHarness, reaches } from "./support/instance-harness.ts";

let harness: InstanceHarness;
beforeAll(async () => {
  harness = await openInstanceHarness();
});
afterAll(() => harness?.[Symbol.asyncDispose]());

const shows = (ns: TestNamespace, type: "MetadataReady" | "GatewayReady", message: RegExp, reason = "EnsureFailed") =>
  eventually(async () => {
    const found = await ns.instance();
    expect(conditionOf(found, type)).toBe(`False/${reason}`);
    expect(found.status?.conditions?.find((condition) => condition.type === type)?.message).toMatch(message);
    return found;
  });

/** The operator has met the rejection more often than a permanent one needs to be final. */
async function staysProvisioning(ns: TestNamespace): Promise<void> {
  const made = () => harness.operator.passes.filter(({ instance }) => instance.namespace === ns.name).length;
  const wanted = made() + 5;
  await eventually(() => made() >= wanted, { describe: "five more passes" });
  expect((await ns.instance()).status?.phase).toBe("Provisioning");
}

test("a quota (403)", async () => {
  const ns = await harness.cluster.namespace();
  const { api } = harness.cluster;
  const quotas = `/api/v1/namespaces/${ns.name}/resourcequotas`;
  const hard = { "count/poddisruptionbudgets.policy": "0" };
  const body = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "none" }, spec: { hard } };
  await api.expect({ method: "POST", path: quotas, body });
  await eventually(async () => {
    const quota = (await api.expect({ path: `${quotas}/none` })).body;
    expect(valueAt(quota, ["status", "used"])).toEqual(hard);
  });
  await ns.createInstance();
  await shows(ns, "GatewayReady", /^PodDisruptionBudget lakeside-gateway: .*403 Forbidden.*exceeded quota: none/);
  await staysProvisioning(ns);
  await api.expect({ method: "DELETE", path: `${quotas}/none` });
  await reaches(ns, "Ready");
});

test("a webhook that cannot be called (500), and nothing of the other component waits for it", async () => {
  const ns = await harness.provisioned();
  const { api } = harness.cluster;
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const webhook = {
    name: "away.example.com",
    clientConfig: { url: "https://127.0.0.1:1/away" },
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Fail",
    timeoutSeconds: 1,
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": ns.name } },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
  };
  const body = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: ns.name },
    webhooks: [webhook],
  };
  await api.expect({ method: "POST", path, body });
  await eventually(async () => {
    const probe = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "probe" } };
    const at = `/api/v1/namespaces/${ns.name}/configmaps?dryRun=All`;
    expect((await api.send({ method: "POST", path: at, body: probe })).status).toBe(500);
  });
  await ns.remove("ConfigMap", "lakeside-metadata-config");
  await shows(ns, "MetadataReady", /^ConfigMap lakeside-metadata-config: .*failed calling webhook "away.example.com"/);
  // What routes to running pods is repaired all the same, and the status still shows what is observed.
  await ns.remove("Service", "lakeside-metadata");
  await ns.remove("Service", "lakeside-gateway");
  await eventually(async () =>
    expect(await ns.names("Service")).toEqual(["lakeside-gateway", "lakeside-metadata", "lakeside-metadata-pg"]),
  );
  await ns.setReady("gateway", false);
  const found = await shows(ns, "GatewayReady", /has no ready replica/, "Provisioning");
  expect(conditionOf(found, "MetadataReady")).toBe("False/EnsureFailed");
  expect(found.status?.phase).toBe("Degraded");
  await ns.setReady("gateway", true);
  await api.expect({ method: "DELETE", path: `${path}/${ns.name}` });
  await reaches(ns, "Ready");
});

test("an apply that the API server cannot merge is a rejection of the object, whatever its status code", async () => {
  const ns = await harness.cluster.namespace();
  await ns.createInstance();
  const found = await ns.instance();
  // As stored by a version whose schema allowed the port that clients use.
  const stored: FireboltInstance = { ...found, spec: { ...found.spec, id: "x", gateway: { metricsPort: 8080 } } };
  const objects = renderInstanceObjects(stored, { images: OPERATOR_DEFAULTS.images, metadataConfigFormat: "xml" });
  const object = objects.gateway.find(({ kind }) => kind === "Deployment");
  const client = createKubeClient({ config: await clusterConfig(harness.cluster.adminKubeconfig) });
  try {
    if (object?.kind !== "Deployment") throw new Error("no Deployment");
    const applied = client.apply(KINDS.Deployment, object, { fieldManager: "test", force: true, dryRun: true });
    const error: unknown = await applied.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(String(error)).toMatch(/duplicate entries for key/);
    expect([isRejection(error), isPermanentRejection(error)]).toEqual([true, false]);
  } finally {
    client.close();
  }
});

describe("database-secret-missing: the Secret of an external database, deleted while everything runs", () => {
  const postgres = { host: "db.example.com", database: "meta", credentialsSecretRef: { name: "login" } };
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "login" },
    stringData: { username: "u", password: "p" },
  };

  test("degrades the instance, and its return ends that", async () => {
    const ns = await harness.cluster.namespace();
    await ns.create("Secret", secret);
    await ns.createInstance({ metadata: { postgres } });
    await reaches(ns, "Ready");
    await ns.remove("Secret", "login");
    const degraded = await reaches(ns, "Degraded");
    expect(conditionOf(degraded, "MetadataReady")).toBe("False/PostgresSecretPreflightFailed");
    expect(degraded.status).not.toHaveProperty("metadataEndpoint");
    expect(degraded.status?.gatewayEndpoint).toBeDefined();
    await ns.create("Secret", secret);
    expect((await reaches(ns, "Ready")).status?.metadataEndpoint).toBeDefined();
  });
});
