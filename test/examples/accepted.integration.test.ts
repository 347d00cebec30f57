// Every file of examples/ is accepted by a real API server with our CRDs and webhooks: each object strictly, as it would be applied,
// after the files that it needs.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWebhookHarness, type WebhookHarness } from "../admission/support/webhook-harness.ts";
import { type ExampleObject, readExampleFiles } from "../harness/fixtures/example-files.ts";

/** Where the API server serves a kind; `{ns}` stands for the namespace. */
const PATHS: Readonly<Record<string, string>> = {
  Namespace: "/api/v1/namespaces",
  Secret: "/api/v1/namespaces/{ns}/secrets",
  Service: "/api/v1/namespaces/{ns}/services",
  ServiceAccount: "/api/v1/namespaces/{ns}/serviceaccounts",
  Deployment: "/apis/apps/v1/namespaces/{ns}/deployments",
  NetworkPolicy: "/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies",
  FireboltInstance: "/apis/compute.firebolt.io/v1alpha1/namespaces/{ns}/fireboltinstances",
  FireboltEngine: "/apis/compute.firebolt.io/v1alpha1/namespaces/{ns}/fireboltengines",
  FireboltEngineClass: "/apis/compute.firebolt.io/v1alpha1/namespaces/{ns}/fireboltengineclasses",
};

let harness: WebhookHarness;
beforeAll(async () => {
  harness = await openWebhookHarness("examples");
});
afterAll(() => harness[Symbol.asyncDispose]());

/**
 * In the one namespace for which the webhooks are called. Namespaces are only dry-run: other tests share the API
 * server.
 */
async function create(object: ExampleObject) {
  const path = PATHS[object.kind];
  if (path === undefined) throw new Error(`unknown kind ${object.kind}: add its path here`);
  const isNamespace = object.kind === "Namespace";
  const namespace = harness.namespace;
  return harness.api.send({
    method: "POST",
    path: `${path.replace("{ns}", namespace)}?fieldValidation=Strict${isNamespace ? "&dryRun=All" : ""}`,
    body: isNamespace ? object : { ...object, metadata: { ...object.metadata, namespace } },
  });
}

test.each(readExampleFiles())("$file", async ({ objects }) => {
  for (const object of objects) {
    const { status, body } = await create(object);
    expect([object.kind, object.metadata.name, status, body]).toMatchObject([
      object.kind,
      object.metadata.name,
      201,
      {},
    ]);
  }
});
