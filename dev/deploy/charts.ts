// Installs and removes the operator as a user would: with Helm, from the charts of this repository. Waits until the operator works, not
// only until Helm is done.

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { V1Deployment } from "../../src/api/generated/kubernetes.ts";
import { pods } from "../../src/engine/cluster/kinds.ts";
import { KINDS } from "../../src/instance/cluster/kinds.ts";
import { RELEASES } from "../../src/plugin/install/helm.ts";
import { podProblem } from "../../src/plugin/status/pod-problem.ts";
import { type ClusterAddress, type Connection, connect } from "./connection.ts";
import { runHelm } from "./helm.ts";
import { imageValues, type NamedImage } from "./image-values.ts";
import { applyNamespace } from "./namespace.ts";
import { mergeValues, type Values } from "./values.ts";

const CHARTS = join(import.meta.dirname, "../../charts");
export const OPERATOR_NAMESPACE = "firebolt-operator";
export const OPERATOR_NAME = "firebolt-operator";
/** Every pod passes Pod Security "restricted". */
const LOCAL_VALUES: Values = { podSecurity: { engineSeccomp: "RuntimeDefault" } };
const READY_MS = 180_000;
const POLL_MS = 100;
const TELL_EVERY_MS = 5_000;

export interface InstallOptions extends ClusterAddress {
  /** Images that replace the chart's: `operator`, `engine`, `metadata`, `envoy`, `postgres`. Others are ignored. */
  readonly images?: readonly NamedImage[];
  /** Further values of the operator's chart; they win. */
  readonly values?: Values;
  /** Of the operator. Default `firebolt-operator`. */
  readonly namespace?: string;
  readonly progress?: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** Return as soon as Helm is done. */
  readonly waitForNothing?: boolean;
}

/** Installs the CRDs, then the operator; a second call upgrades them. */
export async function installCharts(options: InstallOptions): Promise<void> {
  await installCrds(options);
  await installOperator(options);
}

/** Installs the CRDs. Needs only the API server, no node. */
export async function installCrds(options: Omit<InstallOptions, "images" | "values">): Promise<void> {
  const { namespace = OPERATOR_NAMESPACE, progress = () => undefined, signal } = options;
  const address = { kubeconfig: options.kubeconfig, context: options.context };
  using cluster = await connect({ ...address, namespace, signal });
  await applyNamespace(cluster, namespace);
  progress(`helm: installing ${RELEASES.crds} (custom resource definitions)`);
  const args = [...upgradeArgs(namespace), RELEASES.crds, join(CHARTS, "firebolt-operator-crds")];
  await runHelm({ ...address, signal, args });
}

/**
 * Requires the CRDs, and the images on the node: a pod whose image is missing is retried only after ten seconds.
 */
export async function installOperator(options: InstallOptions): Promise<void> {
  const { images = [], namespace = OPERATOR_NAMESPACE, progress = () => undefined, signal } = options;
  const address = { kubeconfig: options.kubeconfig, context: options.context };
  progress(`helm: installing ${RELEASES.operator}`);
  const flags = [...upgradeArgs(namespace), "--skip-crds", "--reset-values"];
  await runHelm({
    ...address,
    signal,
    args: [...flags, RELEASES.operator, join(CHARTS, "firebolt-operator")],
    values: mergeValues({ ...LOCAL_VALUES, ...imageValues(images) }, options.values),
  });
  if (options.waitForNothing === true) return;
  using cluster = await connect({ ...address, namespace, signal });
  await waitForOperator(cluster, progress);
}

const upgradeArgs = (namespace: string): readonly string[] => [
  "upgrade",
  "--install",
  `--namespace=${namespace}`,
  "--wait=hookOnly",
];

/** Only the manager: CRDs, objects and running pods stay. */
export async function uninstallOperator(
  options: ClusterAddress & { readonly namespace?: string; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { namespace = OPERATOR_NAMESPACE, signal } = options;
  const args = ["uninstall", RELEASES.operator, `--namespace=${namespace}`, "--ignore-not-found", "--wait"];
  await runHelm({ kubeconfig: options.kubeconfig, context: options.context, args, signal });
}

async function waitForOperator(cluster: Connection, progress: (line: string) => void): Promise<void> {
  const { client, namespace, call } = cluster;
  const startedMs = performance.now();
  let toldMs = startedMs;
  for (;;) {
    const deployment = await client.get(KINDS.Deployment, { namespace, name: OPERATOR_NAME }, call);
    if (isAvailable(deployment)) return;
    const nowMs = performance.now();
    if (nowMs - startedMs > READY_MS)
      throw new Error(`the operator was not ready after ${READY_MS / 1000} s: ${await whyNot(cluster)}`);
    if (nowMs - toldMs > TELL_EVERY_MS) {
      toldMs = nowMs;
      progress(`waiting for the operator: ${Math.round((nowMs - startedMs) / 1000)} s, ${await whyNot(cluster)}`);
    }
    await sleep(POLL_MS, undefined, { signal: call.signal });
  }
}

function isAvailable({ metadata, spec, status }: V1Deployment): boolean {
  const wanted = spec?.replicas ?? 1;
  return (
    status?.observedGeneration === metadata?.generation &&
    (status?.updatedReplicas ?? 0) >= wanted &&
    (status?.availableReplicas ?? 0) >= wanted &&
    (status?.replicas ?? 0) <= wanted
  );
}

async function whyNot({ client, namespace, call }: Connection): Promise<string> {
  const labelSelector = `app.kubernetes.io/instance=${RELEASES.operator}`;
  const { items } = await client.listAll(pods, { ...call, namespace, labelSelector });
  if (items.length === 0) return "no pod has been created yet";
  return (
    items.flatMap((pod) => podProblem(pod, Date.now())?.text ?? []).join("; ") ||
    "its pod has not been ready for long enough"
  );
}
