// Reads the operator's Deployments, their pods and leases, and namespaces that are being deleted. Concludes nothing. What
// the user may not read is left out; the rest is read.
import { defineResource, isForbidden, type KubeObject } from "@firebolt-operator/kube";
import { type Lease, leaseResource } from "@firebolt-operator/kube/election";
import type { V1Deployment, V1Pod } from "../../api/generated/kubernetes.ts";
import { pods } from "../../engine/cluster/kinds.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { listObjects, nameOf, namespaceOf } from "../cluster/find-object.ts";
import { argumentOf, managerArgs, operatorDeployments, watchOf } from "../install/operators.ts";
import type { ObservedCluster, ObservedOperator, TerminatingNamespace } from "./notices.ts";

interface Namespace extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

const namespaces = defineResource<Namespace>({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});

const DEFAULT_LEASE = "c662f7f5.firebolt.io";

/** `namespace` undefined: all of them. */
export async function observeNotices(cluster: Cluster, namespace: string | undefined): Promise<ObservedCluster> {
  const [deployments, found] = await Promise.all([
    allowed(() => operatorDeployments(cluster)),
    allowed(async () =>
      namespace === undefined
        ? (await listObjects(cluster, namespaces, { namespace: undefined })).items
        : [await cluster.client.find(namespaces, { name: namespace }, cluster.call)],
    ),
  ]);
  const operators =
    deployments === undefined
      ? undefined
      : await Promise.all(deployments.map((deployment) => observeOperator(cluster, deployment)));
  return {
    nowMs: cluster.clock.now(),
    clusterArgs: cluster.clusterArgs,
    operators,
    missing: namespace !== undefined && found?.some((one) => one === undefined) === true ? namespace : undefined,
    terminating: (found ?? []).flatMap((one) => (one === undefined ? [] : terminatingOf(one))),
  };
}

async function observeOperator(cluster: Cluster, deployment: V1Deployment): Promise<ObservedOperator> {
  const namespace = namespaceOf(deployment);
  const args = managerArgs(deployment);
  const labels = Object.entries(deployment.spec?.selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const isElecting = args.some((arg) => /^--?leader-elect(?:=(?:true|t|1))?$/i.test(arg));
  const [own, lease] = await Promise.all([
    allowed(async (): Promise<readonly V1Pod[]> => {
      const { items } = await listObjects(cluster, pods, { namespace, labelSelector: labels.join(",") });
      return items;
    }),
    isElecting ? allowed(() => leaseOf(cluster, args, namespace)) : undefined,
  ]);
  return { deployment, namespaces: watchOf(args).namespaces, pods: own ?? [], lease };
}

function leaseOf({ client, call }: Cluster, args: readonly string[], namespace: string): Promise<Lease | undefined> {
  const key = {
    namespace: argumentOf(args, "leader-election-namespace") || namespace,
    name: argumentOf(args, "leader-election-id") || DEFAULT_LEASE,
  };
  return client.find(leaseResource, key, call);
}

function terminatingOf(namespace: Namespace): readonly TerminatingNamespace[] {
  const since = namespace.metadata?.deletionTimestamp;
  if (since === undefined) return [];
  const remaining = (namespace.status?.conditions ?? [])
    .filter(({ type, status }) => status === "True" && /Remaining$|Failure$/.test(type))
    .flatMap(({ message }) => message ?? []);
  return [{ name: nameOf(namespace), since, remaining }];
}

async function allowed<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
