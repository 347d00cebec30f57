// Reads everything that the status tree shows, in a handful of lists, and the query gauges of draining pods. Concludes
// nothing.
import { isForbidden, type KubeObject, type ResourceType } from "@firebolt-operator/kube";
import { ENGINE_CONTRACT } from "../../api/engine-contract.ts";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import type { V1Deployment, V1Pod, V1Service, V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import { pods, services, statefulSets } from "../../engine/cluster/kinds.ts";
import { METRICS_PORT } from "../../engine/model/pod-contract.ts";
import { missingGaugesText, parseQueryMetrics } from "../../engine/probe/query-metrics.ts";
import { KINDS } from "../../instance/cluster/kinds.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { listObjects, nameOf, namespaceOf, type Scope } from "../cluster/find-object.ts";
import type { GatewayReading } from "./gateways/observe-gateways.ts";

/** What a draining pod reported. */
export type PodQueries =
  | { readonly type: "read"; readonly queries: number }
  | { readonly type: "unknown"; readonly cause: string };

export interface ObservedPlatform {
  readonly nowMs: number;
  readonly instances: readonly FireboltInstance[];
  readonly engines: readonly FireboltEngine[];
  readonly statefulSets: readonly V1StatefulSet[];
  readonly deployments: readonly V1Deployment[];
  /** The Services of engines, routing and headless. */
  readonly services: readonly V1Service[];
  readonly enginePods: readonly V1Pod[];
  readonly instancePods: readonly V1Pod[];
  /** By `namespace/name`, for the pods of draining generations. */
  readonly queries: ReadonlyMap<string, PodQueries>;
  /** By `namespace/name`; undefined: gateway pods were not read. */
  readonly gateways?: ReadonlyMap<string, GatewayReading>;
  /** Kinds that the user may not list: their objects are unknown. */
  readonly unreadable?: ReadonlySet<string>;
  /** Instances were not read: whether one exists is unknown. */
  readonly isWithoutInstances?: true;
  /** Flags with which the command line selects the cluster. */
  readonly clusterArgs?: readonly string[];
}

/** How long reading a pod may take. */
export const PROBE_TIMEOUT_MS = 5_000;
/** Why a pod was not read: users who may read engines may lack this right. */
export const PROXY_FORBIDDEN = "you have no permission to get pods/proxy";

export interface ObserveOptions {
  /** Shown in place of instances that may not be listed. Without it, being denied a Firebolt kind is an error. */
  readonly known?: readonly FireboltInstance[];
}

/** `namespace` undefined: all of them. */
export async function observePlatform(
  cluster: Cluster,
  namespace: string | undefined,
  { known }: ObserveOptions = {},
): Promise<ObservedPlatform> {
  const ofEngines = { namespace, labelSelector: LABEL.engine };
  const ofInstances = { namespace, labelSelector: LABEL.instance };
  const unreadable = new Set<string>();
  const list = listReadable(cluster, unreadable);
  const listOwn = async <T extends KubeObject>(type: ResourceType<T>): Promise<readonly T[]> =>
    known === undefined ? (await listObjects(cluster, type, { namespace })).items : list(type, { namespace });
  const [instances, engines, engineSets, instanceSets, deployments, engineServices, enginePods, instancePods] =
    await Promise.all([
      listOwn(FireboltInstance),
      listOwn(FireboltEngine),
      list(statefulSets, ofEngines),
      list(statefulSets, ofInstances),
      list(KINDS.Deployment, ofInstances),
      list(services, ofEngines),
      list(pods, ofEngines),
      list(pods, ofInstances),
    ]);
  return {
    nowMs: cluster.clock.now(),
    instances: unreadable.has(FireboltInstance.plural) ? (known ?? []) : instances,
    engines,
    statefulSets: [...engineSets, ...instanceSets],
    deployments,
    services: engineServices,
    enginePods,
    instancePods,
    queries: await readDrainingPods(cluster, engines, enginePods),
    unreadable,
    clusterArgs: cluster.clusterArgs,
  };
}

/** The same for one engine, without its instance and other engines. Undefined when it does not exist. */
export async function observeEngine(cluster: Cluster, name: string): Promise<ObservedPlatform | undefined> {
  const { client, namespace, call } = cluster;
  const scope = { namespace, labelSelector: `${LABEL.engine}=${name}` };
  const unreadable = new Set<string>();
  const list = listReadable(cluster, unreadable);
  const [engine, sets, engineServices, enginePods] = await Promise.all([
    client.find(FireboltEngine, { namespace, name }, call),
    list(statefulSets, scope),
    list(services, scope),
    list(pods, scope),
  ]);
  if (engine === undefined) return undefined;
  return {
    nowMs: cluster.clock.now(),
    instances: [],
    isWithoutInstances: true,
    engines: [engine],
    statefulSets: sets,
    deployments: [],
    services: engineServices,
    enginePods,
    instancePods: [],
    queries: await readDrainingPods(cluster, [engine], enginePods),
    unreadable,
    clusterArgs: cluster.clusterArgs,
  };
}

/** A kind that the user may not list is missing from the tree; the rest is shown. */
function listReadable(cluster: Cluster, unreadable: Set<string>) {
  return async <T extends KubeObject>(type: ResourceType<T>, scope: Scope): Promise<readonly T[]> => {
    try {
      return (await listObjects(cluster, type, scope)).items;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      unreadable.add(type.plural);
      return [];
    }
  };
}

async function readDrainingPods(
  cluster: Cluster,
  engines: readonly FireboltEngine[],
  all: readonly V1Pod[],
): Promise<ReadonlyMap<string, PodQueries>> {
  const draining = new Set(
    engines.flatMap((engine) => {
      const generation = engine.status?.drainingGeneration;
      return generation === undefined ? [] : [`${namespaceOf(engine)}/${nameOf(engine)}/${generation}`];
    }),
  );
  const running = all.filter((pod) => {
    const labels = pod.metadata?.labels ?? {};
    const set = `${namespaceOf(pod)}/${labels[LABEL.engine]}/${labels[LABEL.generation]}`;
    return pod.status?.phase === "Running" && draining.has(set);
  });
  const reports = await Promise.all(
    running.map(async (pod) => [`${namespaceOf(pod)}/${nameOf(pod)}`, await readPod(cluster, pod)] as const),
  );
  return new Map(reports);
}

async function readPod({ client, call }: Cluster, pod: V1Pod): Promise<PodQueries> {
  const request = {
    namespace: namespaceOf(pod),
    pod: nameOf(pod),
    port: METRICS_PORT,
    path: ENGINE_CONTRACT.endpoints.metrics,
  };
  try {
    const { status, body } = await client.podProxyGet({ ...call, timeoutMs: PROBE_TIMEOUT_MS, ...request });
    if (status !== 200) return { type: "unknown", cause: `the metrics endpoint responded with status ${status}` };
    const metrics = parseQueryMetrics(body);
    return metrics.type === "read" ? metrics : { type: "unknown", cause: missingGaugesText(metrics.gauges) };
  } catch (error) {
    if (call.signal.aborted) throw error;
    return { type: "unknown", cause: isForbidden(error) ? PROXY_FORBIDDEN : "the pod does not respond" };
  }
}
