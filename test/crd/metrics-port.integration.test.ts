// An instance that was stored with a metrics port that is rejected today: it can be edited and deleted, and the port
// itself changed to one that is allowed. On a copy of the CRD, which gets the rule after the object is stored.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { RESERVED_PORT_MESSAGE } from "../../src/api/gateway-ports.ts";
import { type CustomResourceApi, openCustomResourceApi } from "../harness/control-plane/custom-resource-api.ts";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { manifest, SMALLEST } from "../harness/fixtures/manifests.ts";

const GROUP = "metrics-port.example.com";
const NAME = `fireboltinstances.${GROUP}`;
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FILE = join(import.meta.dirname, "../../config/crd/compute.firebolt.io_fireboltinstances.yaml");

let resources: CustomResourceApi;
let namespace: string;
let path: string;

beforeAll(async () => {
  resources = openCustomResourceApi();
  namespace = await createNamespace("metrics-port");
  path = `/apis/${GROUP}/v1alpha1/namespaces/${namespace}/fireboltinstances/old`;
});
afterAll(async () => {
  await resources.api.expect({ method: "DELETE", path: `${CRDS}/${NAME}` }, [404]);
  resources[Symbol.dispose]();
});

/** The CRD of instances under another group; `rules` of the metrics port as they are, or none. */
function copyOfCrd({ withRule }: { readonly withRule: boolean }): unknown {
  const crd = parse(readFileSync(FILE, "utf8"));
  const { spec } = crd;
  const port = spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.gateway.properties.metricsPort;
  expect(port["x-kubernetes-validations"]).toHaveLength(1);
  if (!withRule) delete port["x-kubernetes-validations"];
  return {
    ...crd,
    metadata: { name: NAME },
    spec: { ...spec, group: GROUP, names: { ...spec.names, shortNames: [] } },
  };
}

const patch = (body: object, query = "") =>
  resources.api.send({ method: "PATCH", path: path + query, body, contentType: "application/merge-patch+json" });
const port = (metricsPort: number) => ({ spec: { gateway: { metricsPort } } });

test("a stored object with a port that the gateway needs can be edited, repaired and deleted", async () => {
  await resources.api.expect({ method: "POST", path: CRDS, body: copyOfCrd({ withRule: false }) });
  const old = manifest(
    "FireboltInstance",
    { name: "old", namespace },
    { ...SMALLEST.FireboltInstance, gateway: { metricsPort: 8080 } },
  );
  const stored = {
    ...old,
    apiVersion: `${GROUP}/v1alpha1`,
    metadata: { ...old.metadata, finalizers: ["example.com/held"] },
  };
  await eventually(async () => {
    const { status } = await resources.api.send({ method: "POST", path: path.replace(/\/old$/, ""), body: stored });
    expect(status).toBe(201);
  });
  await resources.api.expect({
    method: "PATCH",
    path: `${CRDS}/${NAME}`,
    body: copyOfCrd({ withRule: true }),
    contentType: "application/merge-patch+json",
  });
  // The rule is in force once a change to another such port is rejected.
  const refusal = await eventually(async () => {
    const answer = await patch(port(9901), "?dryRun=All");
    return answer.status === 422 && answer;
  });
  expect(JSON.stringify(refusal.body)).toContain(RESERVED_PORT_MESSAGE);

  expect((await patch({ metadata: { labels: { edited: "yes" } } })).status).toBe(200);
  expect((await patch({ spec: { gateway: { replicas: 3 } } })).status).toBe(200);
  expect((await patch(port(9100), "?dryRun=All")).status).toBe(200);
  await resources.api.expect({ method: "DELETE", path });
  expect((await patch({ metadata: { finalizers: null } })).status).toBe(200);
  expect((await resources.api.send({ path })).status).toBe(404);
});
