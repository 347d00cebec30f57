// Shows rendered objects to a real API server without storing them. Kinds of other projects (Prometheus operator, cert-manager) get
// definitions with just their names: the API server then checks what it checks of every object.
import { type Api, valueAt } from "@firebolt-operator/kube/testing";
import { eventually } from "../../harness/control-plane/requests.ts";
import type { RenderedObject } from "../../harness/helm/helm.ts";

/** Groups whose definitions are not ours. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  "monitoring.coreos.com": ["PodMonitor", "ServiceMonitor", "PrometheusRule"],
  "cert-manager.io": ["Issuer", "Certificate"],
};

export const isForeign = ({ apiVersion }: RenderedObject): boolean => (apiVersion.split("/")[0] ?? "") in FOREIGN;

export async function installForeignKinds(api: Api): Promise<() => Promise<void>> {
  const definitions = Object.entries(FOREIGN).flatMap(([group, kinds]) => kinds.map((kind) => definition(group, kind)));
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  for (const body of definitions) await api.expect({ method: "POST", path, body }, [409]);
  for (const { spec } of definitions)
    await eventually(
      async () => (await api.send({ path: `/apis/${spec.group}/v1/${spec.names.plural}` })).status === 200,
    );
  return async () => {
    for (const { metadata } of definitions)
      await api.expect({ method: "DELETE", path: `${path}/${metadata.name}` }, [404]);
  };
}

function definition(group: string, kind: string) {
  const singular = kind.toLowerCase();
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      names: { kind, singular, plural: `${singular}s`, listKind: `${kind}List` },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}

/** The paths of objects of a kind, from the API server's discovery. */
export class Addresses {
  readonly #api: Api;
  readonly #groups = new Map<string, Promise<unknown>>();

  constructor(api: Api) {
    this.#api = api;
  }

  async of({ apiVersion, kind, metadata }: RenderedObject): Promise<string> {
    const base = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    let group = this.#groups.get(base);
    if (group === undefined) {
      group = this.#api.expect({ path: base }).then(({ body }) => body);
      this.#groups.set(base, group);
    }
    const resources = valueAt(await group, ["resources"]);
    const found = Array.isArray(resources)
      ? resources.find(
          (one: unknown) => valueAt(one, ["kind"]) === kind && !String(valueAt(one, ["name"])).includes("/"),
        )
      : undefined;
    if (found === undefined) throw new Error(`the API server does not know ${apiVersion} ${kind}`);
    if ((valueAt(found, ["namespaced"]) === true) !== (metadata.namespace !== undefined))
      throw new Error(`${kind} ${metadata.name} has a namespace and must not, or the other way round`);
    const scope = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
    return `${base}${scope}/${String(valueAt(found, ["name"]))}`;
  }
}

/** Server-side dry run of an apply; unknown fields are rejected. Fails with the API server's message. */
export async function dryRun(api: Api, addresses: Addresses, object: RenderedObject): Promise<void> {
  const query = "dryRun=All&fieldManager=chart-test&force=true&fieldValidation=Strict";
  await api.expect({
    method: "PATCH",
    path: `${await addresses.of(object)}/${object.metadata.name}?${query}`,
    body: object,
    contentType: "application/apply-patch+yaml",
  });
}

/** The pod that the Deployment would make, to be admitted in a namespace. */
export function podOf(deployment: RenderedObject, namespace: string): RenderedObject {
  const spec = valueAt(deployment, ["spec", "template", "spec"]);
  return { apiVersion: "v1", kind: "Pod", metadata: { name: deployment.metadata.name, namespace }, spec };
}
