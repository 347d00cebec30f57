// The operator as a process beside a control plane that has no real pods: with the service account, the rules and the command line that
// its chart created: only the place where it runs differs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  findFreePorts,
  openApiFromKubeconfig,
  startProcess,
  valueAt,
  type Workspace,
} from "@firebolt-operator/kube/testing";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import { OPERATOR_NAME } from "../../deploy/charts.ts";

const PROGRAM = join(import.meta.dirname, "../../../dist/firebolt-operator.mjs");
const READY_MS = 60_000;

export interface SimulatedOperatorOptions {
  readonly workspace: Workspace;
  readonly plane: ControlPlane;
  /** Where the chart is installed. */
  readonly namespace: string;
  readonly progress: (line: string) => void;
}

/** Exits with the workspace. */
export async function startOperator({
  workspace,
  plane,
  namespace,
  progress,
}: SimulatedOperatorOptions): Promise<void> {
  progress("starting the operator as a process");
  const args = await chartArguments(plane.adminKubeconfig, namespace);
  // A copy in the workspace: processes that name its folder are terminated with it.
  const account = await plane.serviceAccountKubeconfig(namespace, OPERATOR_NAME);
  const kubeconfig = workspace.write("operator.kubeconfig", readFileSync(account, "utf8"));
  const [probes = 0] = await findFreePorts(1);
  const operator = startProcess(workspace, {
    name: "operator",
    binary: process.execPath,
    args: [
      PROGRAM,
      ...args,
      // A later flag wins.
      `--kubeconfig=${kubeconfig}`,
      `--leader-election-namespace=${namespace}`,
      `--health-probe-bind-address=127.0.0.1:${probes}`,
      "--metrics-bind-address=0",
    ],
  });
  await operator.waitUntilReady(
    async (signal) => (await fetch(`http://127.0.0.1:${probes}/readyz`, { signal })).ok,
    READY_MS,
  );
}

async function chartArguments(adminKubeconfig: string, namespace: string): Promise<readonly string[]> {
  const api = openApiFromKubeconfig(adminKubeconfig);
  try {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${OPERATOR_NAME}`;
    const { body } = await api.expect({ path });
    const args = valueAt(body, ["spec", "template", "spec", "containers", 0, "args"]);
    if (!Array.isArray(args)) throw new Error(`the Deployment ${OPERATOR_NAME} has no arguments`);
    return args.map(String);
  } finally {
    api.close();
  }
}
