// What the API server rejects for reasons outside the spec, on a real control plane: quotas, webhooks that cannot be called, applies
// that it cannot merge, and a database's Secret that is deleted. Each shows on the instance, is never final, and ends by itself.
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
import type { Room } from "./support/instance-cluster.ts";
import { conditionOf, type InstanceLab, openInstanceLab, reaches } from "./support/instance-harness.ts";

let lab: InstanceLab;
beforeAll(async () => {
  lab = await openInstanceLab();
});
afterAll(() => lab?.[Symbol.asyncDispose]());

const shows = (room: Room, type: "MetadataReady" | "GatewayReady", message: RegExp, reason = "EnsureFailed") =>
  eventually(async () => {
    const found = await room.instance();
    expect(conditionOf(found, type)).toBe(`False/${reason}`);
    expect(found.status?.conditions?.find((condition) => condition.type === type)?.message).toMatch(message);
    return found;
  });

/** The operator has met the rejection more often than a permanent one needs to be final. */
async function staysProvisioning(room: Room): Promise<void> {
  const made = () => lab.operator.passes.filter(({ instance }) => instance.namespace === room.name).length;
  const wanted = made() + 5;
  await eventually(() => made() >= wanted, { describe: "five more passes" });
  expect((await room.instance()).status?.phase).toBe("Provisioning");
}

test("a quota (403)", async () => {
  const room = await lab.cluster.namespace();
  const { api } = lab.cluster;
  const quotas = `/api/v1/namespaces/${room.name}/resourcequotas`;
  const hard = { "count/poddisruptionbudgets.policy": "0" };
  const body = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "none" }, spec: { hard } };
  await api.expect({ method: "POST", path: quotas, body });
  await eventually(async () => {
    const quota = (await api.expect({ path: `${quotas}/none` })).body;
    expect(valueAt(quota, ["status", "used"])).toEqual(hard);
  });
  await room.createInstance();
  await shows(room, "GatewayReady", /^PodDisruptionBudget lakeside-gateway: .*403 Forbidden.*exceeded quota: none/);
  await staysProvisioning(room);
  await api.expect({ method: "DELETE", path: `${quotas}/none` });
  await reaches(room, "Ready");
});

test("a webhook that cannot be called (500), and nothing of the other component waits for it", async () => {
  const room = await lab.provisioned();
  const { api } = lab.cluster;
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const webhook = {
    name: "away.example.com",
    clientConfig: { url: "https://127.0.0.1:1/away" },
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Fail",
    timeoutSeconds: 1,
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": room.name } },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
  };
  const body = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: room.name },
    webhooks: [webhook],
  };
  await api.expect({ method: "POST", path, body });
  await eventually(async () => {
    const probe = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "probe" } };
    const at = `/api/v1/namespaces/${room.name}/configmaps?dryRun=All`;
    expect((await api.send({ method: "POST", path: at, body: probe })).status).toBe(500);
  });
  await room.remove("ConfigMap", "lakeside-metadata-config");
  await shows(
    room,
    "MetadataReady",
    /^ConfigMap lakeside-metadata-config: .*failed calling webhook "away.example.com"/,
  );
  // What routes to running pods is repaired all the same, and the status still shows what is observed.
  await room.remove("Service", "lakeside-metadata");
  await room.remove("Service", "lakeside-gateway");
  await eventually(async () =>
    expect(await room.names("Service")).toEqual(["lakeside-gateway", "lakeside-metadata", "lakeside-metadata-pg"]),
  );
  await room.setReady("gateway", false);
  const found = await shows(room, "GatewayReady", /has no ready replica/, "Provisioning");
  expect(conditionOf(found, "MetadataReady")).toBe("False/EnsureFailed");
  expect(found.status?.phase).toBe("Degraded");
  await room.setReady("gateway", true);
  await api.expect({ method: "DELETE", path: `${path}/${room.name}` });
  await reaches(room, "Ready");
});

test("an apply that the API server cannot merge is a rejection of the object, whatever its status code", async () => {
  const room = await lab.cluster.namespace();
  await room.createInstance();
  const found = await room.instance();
  // As stored by a version whose schema allowed the port that clients use.
  const stored: FireboltInstance = { ...found, spec: { ...found.spec, id: "x", gateway: { metricsPort: 8080 } } };
  const objects = renderInstanceObjects(stored, { images: OPERATOR_DEFAULTS.images, metadataConfigFormat: "xml" });
  const object = objects.gateway.find(({ kind }) => kind === "Deployment");
  const client = createKubeClient({ config: await clusterConfig(lab.cluster.adminKubeconfig) });
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
    const room = await lab.cluster.namespace();
    await room.create("Secret", secret);
    await room.createInstance({ metadata: { postgres } });
    await reaches(room, "Ready");
    await room.remove("Secret", "login");
    const degraded = await reaches(room, "Degraded");
    expect(conditionOf(degraded, "MetadataReady")).toBe("False/PostgresSecretPreflightFailed");
    expect(degraded.status).not.toHaveProperty("metadataEndpoint");
    expect(degraded.status?.gatewayEndpoint).toBeDefined();
    await room.create("Secret", secret);
    expect((await reaches(room, "Ready")).status?.metadataEndpoint).toBeDefined();
  });
});
