// The places in which faults are made, and how they are prepared: each is an instance of its own, so that faults of one do not disturb
// another. Those of the operator itself disturb everything: they have a test file to themselves.
import { openApiFromKubeconfig } from "../../../../dev/control-plane/api-request.ts";
import { type Connection, connect } from "../../../../dev/platform/connection.ts";
import { applyManifests } from "../../../../dev/platform/manifests.ts";
import { applyNamespace } from "../../../../dev/platform/namespace.ts";
import type { KubeObject } from "../../../../src/kube/object.ts";
import { CLASS, engineManifest, instanceManifest, platformManifests } from "../../../support/e2e-platform.ts";
import type { E2eContext } from "../../../support/e2e-platform.ts";
import { expectInstanceReady, expectSettled } from "./expect.ts";
import { eventually } from "../../../support/cluster.ts";
import type { Fault, Place, Scene } from "./fault.ts";

const ONE_GATEWAY = { gateway: { replicas: 1 } };

export const ENGINES: Place = { namespace: "faults", instance: "shared", together: true };
export const GATEWAY: Place = { namespace: "faults", instance: "doors" };
export const DATABASE: Place = { namespace: "faults", instance: "books", spec: ONE_GATEWAY };
export const CLAIM: Place = { namespace: "faults", instance: "lost", spec: ONE_GATEWAY };
export const DELETED: Place = { namespace: "faults", instance: "held", spec: ONE_GATEWAY };
export const FULL: Place = { namespace: "faults", instance: "full", spec: ONE_GATEWAY };
export const LIMITED: Place = { namespace: "faults-limited", instance: "main", spec: ONE_GATEWAY };
export const ENDING: Place = { namespace: "faults-ending", instance: "main", spec: ONE_GATEWAY };
export const OPERATED: Place = { namespace: "faults-operated", instance: "main", spec: ONE_GATEWAY };

const READY_MS = 240_000;

/** Makes namespaces, classes and instances; returns when all instances are ready. */
export async function preparePlaces(context: E2eContext, faults: readonly Fault[]): Promise<void> {
  const places = [...new Set(faults.map(({ place }) => place))];
  using cluster = await connect({ kubeconfig: context.kubeconfig });
  for (const namespace of new Set(places.map((place) => place.namespace))) {
    await applyNamespace(cluster, namespace);
    await applyManifests(cluster, [inNamespace(classManifest(), namespace)]);
  }
  for (const { namespace, instance, spec = {} } of places)
    await applyManifests(cluster, [inNamespace(instanceManifest(instance, spec), namespace)]);
  await Promise.all(
    places.map((place) =>
      eventually(() => expectInstanceReady({ ...place, cluster }), {
        timeoutMs: READY_MS,
        describe: `instance ${place.instance} of ${place.namespace}`,
      }),
    ),
  );
}

/** The fault's own engine, serving. */
export async function setScene(context: E2eContext, { name, place, engine }: Fault): Promise<Scene & Disposable> {
  const { kubeconfig } = context;
  const { namespace, instance } = place;
  const cluster: Connection = await connect({ kubeconfig, namespace });
  const api = openApiFromKubeconfig(kubeconfig);
  const scene: Scene = { context, cluster, api, namespace, instance, engine: name };
  if (engine !== undefined) {
    await applyManifests(cluster, [faultEngine(scene, engine)]);
    await eventually(() => expectSettled(scene), { timeoutMs: READY_MS, describe: `engine ${name}` });
  }
  return {
    ...scene,
    [Symbol.dispose]() {
      api.close();
      cluster[Symbol.dispose]();
    },
  };
}

export const faultEngine = (
  { namespace, instance, engine }: Pick<Scene, "namespace" | "instance" | "engine">,
  spec: object,
) => inNamespace(engineManifest(engine, { replicas: 1, instanceRef: instance, ...spec }), namespace);

const inNamespace = (manifest: KubeObject, namespace: string): KubeObject => ({
  ...manifest,
  metadata: { ...manifest.metadata, namespace },
});

function classManifest(): KubeObject {
  const found = platformManifests().find(({ metadata }) => metadata?.name === CLASS);
  if (found === undefined) throw new Error(`the platform has no class ${CLASS}`);
  return found;
}
