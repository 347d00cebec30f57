// The operators that are installed in the cluster and what each of them watches, read from the arguments of the
// chart's Deployments. An object that no installed operator watches is never cleaned up.
import { isForbidden, type KubeObject, matchesLabels, parseLabelSelector } from "@firebolt-operator/kube";
import type { V1Deployment } from "../../api/generated/kubernetes.ts";
import { KINDS } from "../../instance/cluster/kinds.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { listObjects, namespaceOf } from "../cluster/find-object.ts";
import { describeError } from "../command-line/describe-error.ts";

export interface Watch {
  /** Empty: all of them. */
  readonly namespaces: readonly string[];
  /** Empty: all objects. */
  readonly selector: string;
}

export interface Operator {
  /** Of the release; it may watch other namespaces. */
  readonly namespace: string;
  readonly release: string;
  readonly watch: Watch;
}

/** On every Deployment of the chart, whatever it is called. */
const DEPLOYMENTS = "control-plane=controller-manager,app.kubernetes.io/component=operator";
const CHART = /^firebolt-operator-/;

/** All operators; only those of one namespace, with a warning, if the user may not list Deployments cluster-wide. */
export async function findOperators(
  cluster: Cluster,
  namespace: string,
  warn: (text: string) => void,
): Promise<readonly Operator[]> {
  const list = (where: string | undefined) =>
    listObjects(cluster, KINDS.Deployment, { namespace: where, labelSelector: DEPLOYMENTS });
  try {
    return operatorsIn((await list(undefined)).items);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    warn(`operators outside of namespace ${JSON.stringify(namespace)} are unknown: ${describeError(error)}`);
    return operatorsIn((await list(namespace)).items);
  }
}

/** The Deployments of all operators in the cluster, as they are. */
export async function operatorDeployments(cluster: Cluster): Promise<readonly V1Deployment[]> {
  const { items } = await listObjects(cluster, KINDS.Deployment, { namespace: undefined, labelSelector: DEPLOYMENTS });
  return items.filter(isOfChart);
}

const isOfChart = ({ metadata }: V1Deployment): boolean => CHART.test(metadata?.labels?.["helm.sh/chart"] ?? "");

export function managerArgs(deployment: V1Deployment): readonly string[] {
  return managerOf(deployment)?.args ?? [];
}

export function managerOf({ spec }: V1Deployment) {
  return spec?.template.spec?.containers.find(({ name }) => name === "manager");
}

function operatorsIn(deployments: readonly V1Deployment[]): readonly Operator[] {
  return deployments.filter(isOfChart).map((deployment) => {
    const release = deployment.metadata?.labels?.["app.kubernetes.io/instance"] ?? "";
    return { namespace: namespaceOf(deployment), release, watch: watchOf(managerArgs(deployment)) };
  });
}

/** The value of a flag of the manager, empty without one. As in the manager, the last of equal flags counts. */
export function argumentOf(args: readonly string[], flag: string): string {
  const pattern = new RegExp(`^--?${flag}(?:=(.*))?$`, "s");
  return args.reduce((last, argument, index) => {
    const found = pattern.exec(argument);
    return found === null ? last : (found[1] ?? args[index + 1] ?? "");
  }, "");
}

/** What a manager with these arguments watches. */
export function watchOf(args: readonly string[]): Watch {
  const namespaces = argumentOf(args, "namespaces")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return { namespaces: [...new Set(namespaces)], selector: argumentOf(args, "watch-label-selector") };
}

export function watches({ watch: { namespaces, selector } }: Operator, object: KubeObject): boolean {
  if (namespaces.length > 0 && !namespaces.includes(namespaceOf(object))) return false;
  return matchesLabels(parseLabelSelector(selector), object.metadata?.labels);
}

export const operatorText = ({ namespace, release }: Operator): string => `${namespace}/${release}`;
