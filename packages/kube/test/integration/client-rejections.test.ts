// Which errors of a real API server are rejections of the object (the same request fails again) and which are not.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KubeClient } from "../../src/client/client.ts";
import { isConflict, isFieldConflict, isRejection, KubeApiError } from "../../src/core/errors.ts";
import type { KubeObject } from "../../src/core/object.ts";
import { defineResource } from "../../src/core/resource.ts";
import { ConfigMap } from "../../src/kinds/index.ts";
import { createNamespace, eventually } from "../support/cluster.ts";
import { clusterConfig, ServiceAccount, testClient } from "../support/test-client.ts";

interface Specified extends KubeObject {
  spec?: object;
  status?: object;
  webhooks?: readonly object[];
}

const ADMISSION = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false } as const;
const Webhooks = defineResource<Specified>({
  ...ADMISSION,
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
});
const Policy = defineResource<Specified>({
  ...ADMISSION,
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
});
const Binding = defineResource<Specified>({
  ...ADMISSION,
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
});
const Quota = defineResource<Specified>({
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  namespaced: true,
});
const Namespace = defineResource<Specified>({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});

const CONFIG_MAP_WRITES = {
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE"],
  resources: ["configmaps"],
  scope: "Namespaced",
};

let client: KubeClient;
const cleanUps: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  client = await testClient();
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
  client.close();
});

const only = (namespace: string) => ({ matchLabels: { "kubernetes.io/metadata.name": namespace } });
const configMap = (namespace: string, data: Record<string, string> = {}) => ({
  metadata: { namespace, generateName: "refused-" },
  data,
});
async function rejection(call: Promise<unknown>): Promise<KubeApiError> {
  const error = await call.then(
    () => new Error("the API server accepted it"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof KubeApiError)) throw error;
  return error;
}
/** The error of the API server once the configuration has reached its admission plugins. */
const eventualRejection = (namespace: string): Promise<KubeApiError> =>
  eventually(() => rejection(client.create(ConfigMap, configMap(namespace))));

test("an object over quota", async () => {
  const namespace = await createNamespace("quota");
  const hard = { "count/configmaps": "0" };
  const quota = await client.create(Quota, { metadata: { namespace, name: "none" }, spec: { hard } });
  await client.replace(Quota, { ...quota, status: { hard, used: hard } }, { subresource: "status" });
  const error = await eventually(async () => {
    const refused = await rejection(client.create(ConfigMap, configMap(namespace)));
    return refused.message.includes("exceeded quota") && refused;
  });
  expect([error.status, isRejection(error)]).toEqual([403, true]);
});

test.each([
  ["Invalid", 422],
  ["Forbidden", 403],
])("a ValidatingAdmissionPolicy that denies as %s", async (reason, status) => {
  const namespace = await createNamespace("policy");
  const metadata = { name: namespace };
  cleanUps.push(
    () => client.delete(Policy, metadata),
    () => client.delete(Binding, metadata),
  );
  await client.create(Policy, {
    metadata,
    spec: {
      failurePolicy: "Fail",
      matchConstraints: { namespaceSelector: only(namespace), resourceRules: [CONFIG_MAP_WRITES] },
      validations: [{ expression: "false", message: "not in this cluster", reason }],
    },
  });
  await client.create(Binding, { metadata, spec: { policyName: namespace, validationActions: ["Deny"] } });
  const error = await eventualRejection(namespace);
  expect([error.status, error.reason, isRejection(error)]).toEqual([status, reason, true]);
  expect(error.message).toContain("not in this cluster");
});

test("a webhook that cannot be called", async () => {
  const namespace = await createNamespace("webhook");
  const metadata = { name: namespace };
  cleanUps.push(() => client.delete(Webhooks, metadata));
  await client.create(Webhooks, {
    metadata,
    webhooks: [
      {
        name: "nowhere.example.com",
        // Nothing listens there.
        clientConfig: { url: "https://127.0.0.1:1/" },
        namespaceSelector: only(namespace),
        rules: [CONFIG_MAP_WRITES],
        failurePolicy: "Fail",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        timeoutSeconds: 5,
      },
    ],
  });
  const error = await eventualRejection(namespace);
  expect([error.status, error.reason, isRejection(error)]).toEqual([500, "InternalError", true]);
});

test("an invalid object, and an undecodable one", async () => {
  const namespace = await createNamespace("invalid");
  const invalid = await rejection(client.create(ConfigMap, configMap(namespace, { "no/slash": "" })));
  expect([invalid.status, isRejection(invalid)]).toEqual([422, true]);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { key: 1 } };
  const unreadable = await rejection(client.request({ method: "POST", path, body }));
  expect([unreadable.status, isRejection(unreadable)]).toEqual([400, true]);
});

test("a caller without permission", async () => {
  const namespace = await createNamespace("permission");
  const impersonate = { user: "nobody", uid: undefined, groups: [], extra: {} };
  const stranger = await testClient({ config: { ...(await clusterConfig()), impersonate } });
  const error = await rejection(stranger.create(ConfigMap, configMap(namespace)));
  stranger.close();
  expect([error.status, isRejection(error)]).toEqual([403, true]);
});

test("errors that resolve themselves or have another cause are not rejections of the object", async () => {
  const namespace = await createNamespace("no-refusal");
  const terminating = await createNamespace("terminating");
  await client.delete(Namespace, { name: terminating });
  const inTerminating = await eventually(async () => {
    const refused = await rejection(client.create(ConfigMap, configMap(terminating)));
    return refused.causes.length > 0 && refused;
  });
  expect([inTerminating.status, inTerminating.causes[0]?.reason]).toEqual([403, "NamespaceTerminating"]);

  const metadata = { namespace, name: "taken" };
  const first = await client.create(ServiceAccount, { metadata });
  await client.apply(ConfigMap, { metadata, data: { a: "1" } }, { fieldManager: "first" });
  const nowhere = await rejection(client.create(ConfigMap, configMap(`${namespace}-missing`)));
  const exists = await rejection(client.create(ServiceAccount, { metadata }));
  const labelled = { ...first, metadata: { ...first.metadata, labels: { a: "b" } } };
  await client.replace(ServiceAccount, labelled);
  const changed = await rejection(client.replace(ServiceAccount, labelled));
  const owned = await rejection(client.apply(ConfigMap, { metadata, data: { a: "2" } }, { fieldManager: "second" }));
  const errors = [inTerminating, nowhere, exists, changed, owned];
  expect(errors.map(({ status }) => status)).toEqual([403, 404, 409, 409, 409]);
  expect(errors.map(isRejection)).toEqual([false, false, false, false, false]);
  expect(errors.map(isConflict)).toEqual([false, false, false, true, false]);
  expect(errors.map(isFieldConflict)).toEqual([false, false, false, false, true]);
});
