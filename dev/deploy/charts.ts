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
/** Every pod passes Pod Security "restricted"; and a short probe period keeps the wait for the manager short. */
const LOCAL_VALUES: Values = {
  podSecurity: { engineSeccomp: "RuntimeDefault" },
  readinessProbe: { initialDelaySeconds: 0, periodSeconds: 1 },
};
const READY_MS = 180_000;
const POLL_MS = 250;
const TELL_EVERY_MS = 5_000;

export interface InstallOptions extends ClusterAddress {
  /** Those that are named replace the chart's: `operator`, `engine`, `metadata`, `envoy`, `postgres`. Others are left alone. */
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

/** The definitions, then the operator; again means an upgrade. */
export async function installCharts(options: InstallOptions): Promise<void> {
  const { images = [], namespace = OPERATOR_NAMESPACE, progress = () => undefined, signal } = options;
  const address = { kubeconfig: options.kubeconfig, context: options.context };
  using cluster = await connect({ ...address, namespace, signal });
  await applyNamespace(cluster, namespace);
  progress(`helm: installing ${RELEASES.crds} (custom resource definitions)`);
  const upgrade = ["upgrade", "--install", `--namespace=${namespace}`, "--wait=hookOnly"];
  await runHelm({ ...address, signal, args: [...upgrade, RELEASES.crds, join(CHARTS, "firebolt-operator-crds")] });
  progress(`helm: installing ${RELEASES.operator}`);
  await runHelm({
    ...address,
    signal,
    args: [...upgrade, "--skip-crds", "--reset-values", RELEASES.operator, join(CHARTS, "firebolt-operator")],
    values: mergeValues({ ...LOCAL_VALUES, ...imageValues(images) }, options.values),
  });
  if (options.waitForNothing !== true) await waitForOperator(cluster, progress);
}

/** The manager alone: definitions and objects stay, and so does everything that runs. */
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
  if (items.length === 0) return "no pod has been made yet";
  return (
    items.flatMap((pod) => podProblem(pod, Date.now())?.text ?? []).join("; ") ||
    "its pod has not been ready for long enough"
  );
}
