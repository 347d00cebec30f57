// Problems that concern a whole namespace: an operator that is missing, not ready or without a leader, and a namespace
// that is being deleted. Pure: built from what observe-notices.ts has read; printed above the status tree.
import type { Lease } from "@firebolt-operator/kube/election";
import type { V1Deployment, V1Pod } from "../../api/generated/kubernetes.ts";
import { firstTrouble, troubleText } from "../../pods/pod-trouble.ts";
import { nameOf, namespaceOf } from "../cluster/find-object.ts";
import { ownCommand, withClusterArgs } from "../own-command.ts";
import { spanText } from "../terminal/age.ts";

export interface Notice {
  readonly why: string;
  readonly next: string;
}

/** One Deployment of the operator's chart, with what belongs to it. */
export interface ObservedOperator {
  readonly deployment: V1Deployment;
  /** Empty: all of them. */
  readonly namespaces: readonly string[];
  readonly pods: readonly V1Pod[];
  /** Undefined: it uses none, or it may not be read. */
  readonly lease: Lease | undefined;
}

/** Undefined: the user may not read it. */
export interface ObservedCluster {
  readonly nowMs: number;
  readonly operators: readonly ObservedOperator[] | undefined;
  readonly terminating: readonly TerminatingNamespace[];
  /** A namespace that was named and does not exist. */
  readonly missing?: string | undefined;
  /** How the command line names the cluster. */
  readonly clusterArgs?: readonly string[];
}

export interface TerminatingNamespace {
  readonly name: string;
  readonly since: string;
  /** What the namespace controller reports that it waits for. */
  readonly remaining: readonly string[];
}

export interface NoticeScope {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** Whether anything waits for the operator to act: only then its absence is reported. */
  readonly isWaiting: boolean;
}

/** A leader renews every few seconds; the rest allows for clock skew. */
const LEASE_GRACE_MS = 60_000;

export function noticesOf(observed: ObservedCluster, scope: NoticeScope): readonly Notice[] {
  return allNotices(observed, scope).map(({ why, next }) => ({
    why,
    next: withClusterArgs(next, observed.clusterArgs),
  }));
}

function allNotices(observed: ObservedCluster, { namespace, isWaiting }: NoticeScope): readonly Notice[] {
  const terminating = observed.terminating.filter(({ name }) => namespace === undefined || name === namespace);
  if (observed.missing !== undefined)
    return [
      { why: `namespace ${observed.missing} does not exist`, next: "use another one with -n: kubectl get namespaces" },
    ];
  return [
    ...terminating.map((one) => terminatingNotice(one, observed.nowMs)),
    ...operatorNotices(observed, namespace, isWaiting),
  ];
}

/** Kinds that are missing from the tree because the user may not list them. */
export function unreadableNotices(unreadable: ReadonlySet<string> | undefined): readonly Notice[] {
  if (unreadable === undefined || unreadable.size === 0) return [];
  const kinds = [...unreadable].sort().join(", ");
  return [
    {
      why: `you have no permission to list ${kinds}: they are shown as the operator last reported them`,
      next: `request a Role that allows get, list and watch on ${kinds}`,
    },
  ];
}

function operatorNotices(
  { operators, nowMs, clusterArgs }: ObservedCluster,
  namespace: string | undefined,
  isWaiting: boolean,
): readonly Notice[] {
  if (operators === undefined) return [];
  if (operators.length === 0)
    return isWaiting
      ? [
          {
            why: "no operator is installed in this cluster, so these objects are not reconciled",
            next: `install it: ${ownCommand({ namespace: undefined, clusterArgs }, ["install", "--charts", "charts"])}`,
          },
        ]
      : [];
  const watching = operators.filter(
    ({ namespaces }) => namespace === undefined || namespaces.length === 0 || namespaces.includes(namespace),
  );
  if (watching.length === 0) {
    const others = operators.map(({ deployment, namespaces }) => `${refOf(deployment)} (${namespaces.join(", ")})`);
    return isWaiting
      ? [
          {
            why: `no operator watches namespace ${namespace}; there is ${others.join(", ")}`,
            next: "add the namespace to watchNamespaces of the operator's Helm release",
          },
        ]
      : [];
  }
  const problems = watching.map((operator) => operatorProblem(operator, nowMs));
  // One that works is enough for a namespace; several operators in a cluster watch different namespaces.
  if (namespace !== undefined && problems.includes(undefined)) return [];
  return problems.filter((problem) => problem !== undefined);
}

function operatorProblem({ deployment, pods, lease }: ObservedOperator, nowMs: number): Notice | undefined {
  const [name, namespace] = [nameOf(deployment), namespaceOf(deployment)];
  const what = `operator ${refOf(deployment)}`;
  if ((deployment.spec?.replicas ?? 1) === 0)
    return {
      why: `${what} is scaled to 0, so nothing changes until it runs again`,
      next: `kubectl scale deployment ${name} -n ${namespace} --replicas=1`,
    };
  const logs = `kubectl logs deployment/${name} -n ${namespace}`;
  if ((deployment.status?.readyReplicas ?? 0) === 0) {
    const trouble = firstTrouble(pods, nowMs);
    if (trouble !== undefined) return { why: `${what} has no ready pod: ${troubleText(trouble)}`, next: trouble.next };
    const refused = deployment.status?.conditions?.find(
      ({ type, status }) => type === "ReplicaFailure" && status === "True",
    );
    return {
      why: `${what} has no ready pod${refused?.message === undefined ? "" : `: ${refused.message}`}`,
      next: pods.length === 0 ? `kubectl describe deployment ${name} -n ${namespace}` : `see why: ${logs}`,
    };
  }
  const renewedMs = Date.parse(lease?.spec?.renewTime ?? "");
  const validMs = (lease?.spec?.leaseDurationSeconds ?? 15) * 1_000 + LEASE_GRACE_MS;
  if (lease !== undefined && nowMs - renewedMs > validMs)
    return {
      why: `${what} has no leader: its lease ${namespaceOf(lease)}/${nameOf(lease)} was last renewed ${spanText(nowMs - renewedMs)} ago`,
      next: `see why: ${logs}`,
    };
  return undefined;
}

function terminatingNotice({ name, since, remaining }: TerminatingNamespace, nowMs: number): Notice {
  const age = spanText(Math.max(0, nowMs - Date.parse(since)));
  return {
    why: `namespace ${name} is being deleted (for ${age})${remaining.length === 0 ? "" : `: ${remaining.join("; ")}`}`,
    next: `wait; objects that remain: kubectl get fireboltengine,fireboltinstance,pod,pvc -n ${name}`,
  };
}

const refOf = (deployment: V1Deployment): string => `${namespaceOf(deployment)}/${nameOf(deployment)}`;
