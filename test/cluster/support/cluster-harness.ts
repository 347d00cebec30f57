// The harness of an end-to-end test: the cluster that the run started, a namespace with an instance, and the gateway's
// address. Edits are retried, as a patient user would: while the operator is down, its webhook cannot be called.
import type { KubeObject, ResourceType } from "@firebolt-operator/kube";
import { type Api, openApiFromKubeconfig } from "@firebolt-operator/kube/testing";
import { inject } from "vitest";
import { type Connection, connect } from "../../../dev/deploy/connection.ts";
import { applyManifests } from "../../../dev/deploy/manifests.ts";
import { FireboltEngine } from "../../../src/api/firebolt-engine/engine.ts";
import type { V1Pod } from "../../../src/api/generated/kubernetes.ts";
import { pods, services } from "../../../src/engine/cluster/kinds.ts";
import { eventually } from "../../harness/control-plane/requests.ts";
import { type E2eContext, engineManifest, INSTANCE, NAMESPACE } from "./platform.ts";

declare module "vitest" {
  export interface ProvidedContext {
    e2e: E2eContext;
  }
}

export interface ClusterHarness extends Disposable {
  readonly context: E2eContext;
  readonly cluster: Connection;
  /** Plain requests with the administrator's certificate. */
  readonly api: Api;
  /** `http://host:port` of the instance's gateway Service. */
  readonly gateway: string;
}

export async function openClusterHarness(): Promise<ClusterHarness> {
  const context = inject("e2e");
  const cluster = await connect({ kubeconfig: context.kubeconfig, namespace: NAMESPACE });
  const api = openApiFromKubeconfig(context.kubeconfig);
  const gateway = await gatewayOf(cluster, { namespace: NAMESPACE, instance: INSTANCE });
  return {
    context,
    cluster,
    api,
    gateway,
    [Symbol.dispose]() {
      api.close();
      cluster[Symbol.dispose]();
    },
  };
}

/** Pods of the namespace that match, by name. */
export async function podsOf(
  { cluster: { client, call } }: ClusterHarness,
  labelSelector: string,
): Promise<readonly V1Pod[]> {
  const { items } = await client.listAll(pods, { ...call, namespace: NAMESPACE, labelSelector });
  return items.toSorted((one, other) => ((one.metadata?.name ?? "") < (other.metadata?.name ?? "") ? -1 : 1));
}

/** The address of an instance's gateway as pods and the node see it. */
export async function gatewayOf(
  { client, call }: Connection,
  { namespace, instance }: { readonly namespace: string; readonly instance: string },
): Promise<string> {
  const { spec } = await client.get(services, { namespace, name: `${instance}-gateway` }, call);
  return `http://${spec?.clusterIP}:${spec?.ports?.[0]?.port}`;
}

/** Makes an engine and waits until it serves. */
export async function createEngine(harness: ClusterHarness, name: string, spec: object): Promise<FireboltEngine> {
  await applyManifests(harness.cluster, [engineManifest(name, spec)]);
  return settled(harness, name);
}

/** A merge patch, made as soon as admission lets it through. */
export async function edit<T extends KubeObject>(
  { cluster: { client, call } }: ClusterHarness,
  type: ResourceType<T>,
  { name, ...body }: { readonly name: string; readonly [part: string]: unknown },
): Promise<T> {
  return eventually(() => client.patch(type, { namespace: NAMESPACE, name }, { type: "merge", body }, call), {
    timeoutMs: 120_000,
    describe: `an edit of ${type.kind} ${name}`,
  });
}

export const editEngine = (harness: ClusterHarness, name: string, spec: object): Promise<FireboltEngine> =>
  edit(harness, FireboltEngine, { name, spec });

export interface SettledOptions {
  /** At least this generation serves. */
  readonly generation?: number;
  readonly timeoutMs?: number;
}

/** Waits until the engine is Ready on its newest spec, all of its generation's pods serving and nothing of a rollout left. */
export function settled(
  { cluster: { client, call } }: ClusterHarness,
  name: string,
  { generation = 0, timeoutMs = 240_000 }: SettledOptions = {},
): Promise<FireboltEngine> {
  return eventually(
    async () => {
      const engine = await client.get(FireboltEngine, { namespace: NAMESPACE, name }, call);
      const { status, metadata } = engine;
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      const isSettled =
        status?.phase === "stable" &&
        status.activeGeneration >= generation &&
        status.observedGeneration === metadata?.generation &&
        ready?.status === "True";
      if (isSettled) return engine;
      throw new Error(`${status?.phase} ${status?.currentGeneration}/${status?.activeGeneration}: ${ready?.message}`);
    },
    { timeoutMs, describe: `${name} at rest` },
  );
}
