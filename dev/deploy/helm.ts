// Helm against a cluster: values and connection in, output out. Knows nothing about the content of the charts.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClusterAddress } from "./connection.ts";
import { expectHelm } from "./helm-process.ts";
import type { Values } from "./values.ts";

const DEADLINE_MS = 180_000;

export interface HelmRun extends ClusterAddress {
  readonly args: readonly string[];
  readonly values?: Values;
  readonly signal?: AbortSignal | undefined;
}

/** Runs Helm and returns what it printed; throws with its output when it fails. */
export async function runHelm({ args, values, kubeconfig, context, signal }: HelmRun): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "firebolt-helm-"));
  try {
    const file = join(folder, "values.yaml");
    // JSON is YAML.
    if (values !== undefined) await writeFile(file, JSON.stringify(values));
    const all = [
      ...args,
      ...(values === undefined ? [] : [`--values=${file}`]),
      ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
      ...(context === undefined ? [] : [`--kube-context=${context}`]),
    ];
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    return await expectHelm({
      args: all,
      folder,
      // The home folder stays the user's: credential programs of a kubeconfig may need it.
      env: process.env,
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
