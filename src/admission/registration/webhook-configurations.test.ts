// The registration of the webhooks, word by word (docs/design/admission.md#webhooks).
import { expect, test } from "vitest";
import { HOOKS } from "./hooks.ts";
import { renderWebhookConfigurations, serviceHosts } from "./webhook-configurations.ts";

const names = { mutatingName: "m", validatingName: "v" };
const service = { type: "service", namespace: "system", name: "hooks", port: 443 } as const;

test("names, paths, operations and failure policies are the documented ones", () => {
  expect(
    HOOKS.map(({ name, path, operations, failurePolicy }) => [name, path, operations.join(), failurePolicy]),
  ).toEqual([
    [
      "mfireboltinstance.compute.firebolt.io",
      "/mutate-compute-firebolt-io-v1alpha1-fireboltinstance",
      "CREATE",
      "Ignore",
    ],
    [
      "vfireboltinstance.compute.firebolt.io",
      "/validate-compute-firebolt-io-v1alpha1-fireboltinstance",
      "CREATE,UPDATE",
      "Fail",
    ],
    [
      "vfireboltengine.compute.firebolt.io",
      "/validate-compute-firebolt-io-v1alpha1-fireboltengine",
      "CREATE,UPDATE",
      "Fail",
    ],
    [
      "vfireboltengineclass.compute.firebolt.io",
      "/validate-compute-firebolt-io-v1alpha1-fireboltengineclass",
      "CREATE,UPDATE,DELETE",
      "Fail",
    ],
  ]);
});

test("one webhook as it is registered", () => {
  const { mutating } = renderWebhookConfigurations({ ...names, target: service, caBundle: "PEM", labels: { a: "b" } });
  expect(mutating).toEqual({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "m", labels: { a: "b" } },
    webhooks: [
      {
        name: "mfireboltinstance.compute.firebolt.io",
        clientConfig: {
          service: {
            namespace: "system",
            name: "hooks",
            port: 443,
            path: "/mutate-compute-firebolt-io-v1alpha1-fireboltinstance",
          },
          caBundle: "UEVN",
        },
        rules: [
          {
            apiGroups: ["compute.firebolt.io"],
            apiVersions: ["v1alpha1"],
            operations: ["CREATE"],
            resources: ["fireboltinstances"],
            scope: "Namespaced",
          },
        ],
        failurePolicy: "Ignore",
        matchPolicy: "Equivalent",
        sideEffects: "None",
        timeoutSeconds: 10,
        admissionReviewVersions: ["v1"],
        reinvocationPolicy: "Never",
      },
    ],
  });
});

test("validating webhooks are called for a new spec, and not for changes of metadata or objects that are being deleted", () => {
  const { validating } = renderWebhookConfigurations({ ...names, target: service });
  const validated =
    "request.operation != 'UPDATE' || (!has(object.metadata.deletionTimestamp) && " +
    "(has(object.spec) != has(oldObject.spec) || (has(object.spec) && object.spec != oldObject.spec)))";
  const specIsNew = { matchConditions: [{ name: "spec-is-new", expression: validated }] };
  const ofGateways = expect.stringMatching(
    /^(.*) \|\| \(request\.userInfo\.username\.startsWith\('system:serviceaccount:'/,
  );
  const orGateway = { matchConditions: [{ name: "spec-is-new-or-gateway", expression: ofGateways }] };
  expect(validating).toMatchObject({ webhooks: [specIsNew, orGateway, specIsNew] });
});

test("the operator's own account changes replicas and ids without a call, by its full name, and no other account", () => {
  const operatorAccount = { namespace: "system", name: "operator" };
  const { validating, mutating } = renderWebhookConfigurations({ ...names, target: service, operatorAccount });
  const own = (field: string) => ({
    name: "not-the-operator",
    expression: expect.stringMatching(
      new RegExp(`request\\.userInfo\\.username != 'system:serviceaccount:system:operator' .* k != '${field}' `),
    ),
  });
  const specIsNew = expect.objectContaining({ name: "spec-is-new" });
  const orGateway = expect.objectContaining({ name: "spec-is-new-or-gateway" });
  const conditions = [[specIsNew, own("id")], [orGateway, own("replicas")], [specIsNew]];
  expect(validating).toMatchObject({ webhooks: conditions.map((matchConditions) => ({ matchConditions })) });
  expect(JSON.stringify(mutating)).not.toContain("matchConditions");
});

test("policies and timeouts can be set per configuration", () => {
  const { validating } = renderWebhookConfigurations({
    ...names,
    target: { type: "url", base: "https://127.0.0.1:1" },
    failurePolicy: { validating: "Ignore" },
    timeoutSeconds: 5,
  });
  expect(validating).toMatchObject({
    webhooks: [1, 2, 3].map(() => ({
      failurePolicy: "Ignore",
      timeoutSeconds: 5,
      clientConfig: { url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:1\/validate-/) },
    })),
  });
});

test("the certificate is valid for every name of the Service", () => {
  expect(serviceHosts("system", "hooks")).toEqual([
    "hooks.system.svc",
    "hooks.system.svc.cluster.local",
    "hooks.system",
    "hooks",
  ]);
});
