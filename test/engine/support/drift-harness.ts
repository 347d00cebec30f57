// Engines, classes and StatefulSets on the shared API server, for tests of what the server makes of a rendered object.
import { type Api, openApiFromKubeconfig } from "@firebolt-operator/kube/testing";
import { inject } from "vitest";
import type { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import type { FireboltEngineClass } from "../../../src/api/firebolt-engine/engine-class.ts";
import type { V1StatefulSet } from "../../../src/api/generated/kubernetes.ts";
import type { RenderedGeneration } from "../../../src/engine/render/generation.ts";
import { engine, engineClass } from "../../harness/fixtures/manifests.ts";
import { type Layers, render } from "./rendered-fixtures.ts";

const GROUP = "/apis/compute.firebolt.io/v1alpha1";

export interface DriftHarness extends Disposable {
  /** Stores both manifests, reads them back and renders what was stored. */
  renderThroughCrds(layers: Required<Pick<Layers, "engine" | "engineClass">>): Promise<RenderedGeneration>;
  /** What the server would store: defaulted, converted and validated, but not kept. */
  dryRun(statefulSet: V1StatefulSet): Promise<V1StatefulSet>;
  create(statefulSet: V1StatefulSet): Promise<V1StatefulSet>;
  read(name: string): Promise<V1StatefulSet>;
  /** Changes a field of a stored set, as a person with kubectl would. */
  edit(name: string, patch: object): Promise<V1StatefulSet>;
}

export function openDriftHarness(namespace: string): DriftHarness {
  const api = openApiFromKubeconfig(inject("adminKubeconfig"));
  const sets = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;
  return {
    async renderThroughCrds(layers) {
      const strict = "fieldValidation=Strict";
      const storedClass = await write<FireboltEngineClass>(
        api,
        `${GROUP}/namespaces/${namespace}/fireboltengineclasses?${strict}`,
        engineClass({ name: "c", ...layers.engineClass }),
      );
      const stored = await write<FireboltEngine>(
        api,
        `${GROUP}/namespaces/${namespace}/fireboltengines?${strict}`,
        engine({ name: "e", engineClassRef: "c", ...layers.engine }),
      );
      return render({ engine: stored.spec ?? {}, engineClass: storedClass.spec ?? {} }, { namespace });
    },
    dryRun: (statefulSet) => write(api, `${sets}?dryRun=All&fieldValidation=Strict`, statefulSet),
    create: (statefulSet) => write(api, `${sets}?fieldValidation=Strict`, statefulSet),
    read: async (name) => objectIn<V1StatefulSet>((await api.expect({ path: `${sets}/${name}` })).body),
    async edit(name, patch) {
      const contentType = "application/merge-patch+json";
      const answer = await api.expect({ method: "PATCH", path: `${sets}/${name}`, body: patch, contentType });
      return objectIn<V1StatefulSet>(answer.body);
    },
    [Symbol.dispose]: () => api.close(),
  };
}

async function write<T extends object>(api: Api, path: string, body: object): Promise<T> {
  return objectIn<T>((await api.expect({ method: "POST", path, body })).body);
}

/** A successful write or read returns an object of the requested kind. */
function objectIn<T extends object>(body: unknown): T {
  if (typeof body !== "object" || body === null || !("metadata" in body))
    throw new TypeError("the response is not an object");
  return body as T;
}
