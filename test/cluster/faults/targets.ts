// The places in which faults are made, and how they are prepared: each is an instance of its own, so that faults of one do not disturb
// another. Those of the operator itself disturb everything: they have a test file to themselves.
import type { KubeObject } from "@firebolt-operator/kube";
import { openApiFromKubeconfig } from "@firebolt-operator/kube/testing";
import { type Connection, connect } from "../../../dev/deploy/connection.ts";
import { applyManifests } from "../../../dev/deploy/manifests.ts";
import { applyNamespace, namespaces } from "../../../dev/deploy/namespace.ts";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../../src/api/firebolt-instance/instance.ts";
import type { E2eContext } from "../support/platform.ts";
import { CLASS, engineManifest, instanceManifest, platformManifests } from "../support/platform.ts";
import { expectInstanceReady, expectSettled } from "./expect.ts";
import type { Fault, FaultTarget, Scene } from "./fault.ts";
import { prepareSmallVolume, SMALL_VOLUME_SPEC } from "./small-volume.ts";
import { until } from "./wait.ts";

const ONE_GATEWAY = { gateway: { replicas: 1 } };

export const ENGINES: FaultTarget = { namespace: "faults", instance: "shared", together: true };
export const GATEWAY: FaultTarget = { namespace: "faults", instance: "doors" };
export const DATABASE: FaultTarget = { namespace: "faults", instance: "books", spec: ONE_GATEWAY };
export const CLAIM: FaultTarget = { namespace: "faults", instance: "lost", spec: ONE_GATEWAY };
export const DELETED: FaultTarget = { namespace: "faults", instance: "held", spec: ONE_GATEWAY };
export const FULL: FaultTarget = {
  namespace: "faults",
  instance: "full",
  spec: { ...ONE_GATEWAY, ...SMALL_VOLUME_SPEC },
  prepare: prepareSmallVolume,
};
export const LIMITED: FaultTarget = { namespace: "faults-limited", instance: "main", spec: ONE_GATEWAY };
export const ENDING: FaultTarget = { namespace: "faults-ending", instance: "main", spec: ONE_GATEWAY };
export const OPERATED: FaultTarget = { namespace: "faults-operated", instance: "main", spec: ONE_GATEWAY };

const READY_MS = 240_000;

const prepared = new Map<FaultTarget, Promise<void>>();

/** Once per target: namespace, class and instance, ready. */
function prepareTarget(context: E2eContext, target: FaultTarget): Promise<void> {
  const known = prepared.get(target);
  if (known !== undefined) return known;
  const preparing = createTarget(context, target);
  prepared.set(target, preparing);
  return preparing;
}

/** Whoever comes next need not share the node with them. Does not wait for the end of their pods. */
export async function removeTargets({ kubeconfig }: E2eContext): Promise<void> {
  using cluster = await connect({ kubeconfig });
  const { client, call } = cluster;
  for (const name of new Set([...prepared.keys()].map(({ namespace }) => namespace))) {
    const found = await client.find(namespaces, { name }, call);
    const isLeaving = found === undefined || found.metadata?.deletionTimestamp !== undefined;
    if (!isLeaving) await client.delete(namespaces, { name }, call);
  }
}

/** Once nothing uses it any more: with what engines are left of it. */
export async function removeInstance({ kubeconfig }: E2eContext, { namespace, instance }: FaultTarget): Promise<void> {
  using cluster = await connect({ kubeconfig, namespace });
  const { client, call } = cluster;
  const key = { namespace, name: instance };
  if ((await client.find(FireboltInstance, key, call)) === undefined) return;
  const { items } = await client.listAll(FireboltEngine, { ...call, namespace });
  const own = items.filter(({ spec }) => spec?.instanceRef === instance);
  for (const { metadata } of own) await client.delete(FireboltEngine, { namespace, name: metadata?.name ?? "" }, call);
  await client.delete(FireboltInstance, key, call);
}

async function createTarget(context: E2eContext, target: FaultTarget): Promise<void> {
  const { namespace, instance, spec = {}, prepare } = target;
  using cluster = await connect({ kubeconfig: context.kubeconfig, namespace });
  await applyNamespace(cluster, namespace);
  await prepare?.({ cluster, context });
  await applyManifests(cluster, [
    inNamespace(classManifest(), namespace),
    inNamespace(instanceManifest(instance, spec), namespace),
  ]);
  const ready = () => expectInstanceReady({ cluster, namespace, instance });
  await until(`instance ${instance} of ${namespace}`, ready, READY_MS);
}

/** The fault's target, with its own engine serving. */
export async function setScene(context: E2eContext, { name, target, engine }: Fault): Promise<Scene & Disposable> {
  await prepareTarget(context, target);
  const { kubeconfig } = context;
  const { namespace, instance } = target;
  const cluster: Connection = await connect({ kubeconfig, namespace });
  const api = openApiFromKubeconfig(kubeconfig);
  const scene: Scene = { context, cluster, api, namespace, instance, engine: name };
  if (engine !== undefined) {
    await applyManifests(cluster, [faultEngine(scene, engine)]);
    await until(`engine ${name}`, () => expectSettled(scene), READY_MS);
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
