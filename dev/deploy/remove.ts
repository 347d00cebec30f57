// Removes a platform from an existing cluster: its objects, the namespace, the operator, the definitions. In this
// order, because only the operator can finish the deletion of its objects.
import { setTimeout as sleep } from "node:timers/promises";
import {
  defineResource,
  isNotFound,
  type KubeObject,
  type ObjectKey,
  type ResourceType,
} from "@firebolt-operator/kube";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { pods } from "../../src/engine/cluster/kinds.ts";
import { RELEASES } from "../../src/plugin/install/helm.ts";
import { OPERATOR_NAMESPACE, uninstallOperator } from "./charts.ts";
import type { ClusterAddress, Connection } from "./connection.ts";
import { runHelm } from "./helm.ts";
import { namespaces } from "./namespace.ts";

const GONE_MS = 180_000;
const POLL_MS = 500;

export const definitions = defineResource<KubeObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
});

export const DEFINITION_NAMES: readonly string[] = [
  "fireboltengines",
  "fireboltinstances",
  "fireboltengineclasses",
].map((plural) => `${plural}.compute.firebolt.io`);

/** Whether the cluster has the operator's CRDs: then the operator is installed. */
export async function hasDefinitions({ client, call }: Connection): Promise<boolean> {
  const found = await Promise.all(DEFINITION_NAMES.map((name) => client.find(definitions, { name }, call)));
  return found.some((one) => one !== undefined);
}

/** Users of an object are deleted before the object. */
const ORDER: readonly ResourceType[] = [FireboltEngine, FireboltInstance, FireboltEngineClass];

/** Deletes everything of ours in a namespace, and the namespace; returns when it is deleted. */
export async function removePlatform(cluster: Connection, namespace: string): Promise<void> {
  for (const type of (await hasDefinitions(cluster)) ? ORDER : []) await removeAll(cluster, type, namespace);
  // The namespace controller rechecks a namespace with pods only after half of their longest grace period, which is
  // long for engines.
  await untilNone(cluster, pods, namespace);
  await removeAndWait(cluster, namespaces, namespace);
}

async function removeAll(cluster: Connection, type: ResourceType, namespace: string): Promise<void> {
  const { client, call } = cluster;
  const { items } = await client.listAll(type, { ...call, namespace });
  for (const { metadata } of items) await remove(cluster, type, { namespace, name: metadata?.name ?? "" });
  await untilNone(cluster, type, namespace);
}

async function untilNone({ client, call }: Connection, type: ResourceType, namespace: string): Promise<void> {
  const names = async (): Promise<readonly string[]> =>
    (await client.listAll(type, { ...call, namespace })).items.map(({ metadata }) => metadata?.name ?? "");
  const deadlineMs = performance.now() + GONE_MS;
  for (let left = await names(); left.length > 0; left = await names()) {
    if (performance.now() > deadlineMs)
      throw new Error(`${type.kind} ${left.join(", ")} in ${namespace} still exist after ${GONE_MS / 1000} s`);
    await sleep(POLL_MS, undefined, { signal: call.signal });
  }
}

/** The operator, its namespace and the CRDs, after all objects are deleted. */
export async function removeCharts(cluster: Connection, address: ClusterAddress): Promise<void> {
  const { signal } = cluster.call;
  await uninstallOperator({ ...address, signal });
  const args = ["uninstall", RELEASES.crds, `--namespace=${OPERATOR_NAMESPACE}`, "--ignore-not-found"];
  await runHelm({ ...address, args, signal });
  // The chart keeps the CRDs on purpose: deleting them deletes every object of these kinds in the cluster.
  for (const name of DEFINITION_NAMES) await removeAndWait(cluster, definitions, name);
  await removeAndWait(cluster, namespaces, OPERATOR_NAMESPACE);
}

async function removeAndWait(cluster: Connection, type: ResourceType, name: string): Promise<void> {
  const { client, call } = cluster;
  await remove(cluster, type, { name });
  const deadlineMs = performance.now() + GONE_MS;
  while ((await client.find(type, { name }, call)) !== undefined) {
    if (performance.now() > deadlineMs)
      throw new Error(`${type.kind} ${name} is still being deleted after ${GONE_MS / 1000} s: kubectl describe it`);
    await sleep(POLL_MS, undefined, { signal: call.signal });
  }
}

/** Not found is success. */
async function remove({ client, call }: Connection, type: ResourceType, key: ObjectKey): Promise<void> {
  try {
    await client.delete(type, key, call);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
