// The real Helm as a child process: the pinned one, with caches and settings of its own so that nothing of the user's Helm changes what it
// does. Its words are shown when it fails. It knows nothing of what the charts hold.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveAssets } from "../assets/resolver.ts";
import type { ClusterAddress } from "./connection.ts";
import type { Values } from "./values.ts";

const DEADLINE_MS = 180_000;

export interface HelmRun extends ClusterAddress {
  readonly args: readonly string[];
  readonly values?: Values;
  readonly signal?: AbortSignal | undefined;
}

/** Runs Helm to its end; answers what it printed, fails with what it said. */
export async function runHelm({ args, values, kubeconfig, context, signal }: HelmRun): Promise<string> {
  const binary = (await resolveAssets(["helm"])).get("helm");
  if (binary === undefined) throw new Error("no binary for helm: run `npm run assets -- --with helm`");
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
    return await run({ binary, args: all, folder, signal });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Invocation {
  readonly binary: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly signal: AbortSignal | undefined;
}

async function run({ binary, args, folder, signal }: Invocation): Promise<string> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const child = spawn(binary, args, {
    stdio: ["ignore", "pipe", "pipe"],
    // The home folder stays the user's: credential programs of a kubeconfig may need it.
    env: {
      ...process.env,
      HELM_CACHE_HOME: join(folder, "cache"),
      HELM_CONFIG_HOME: join(folder, "config"),
      HELM_DATA_HOME: join(folder, "data"),
    },
    signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  await once(child, "close");
  if (child.exitCode !== 0)
    throw new Error(`helm ${args.join(" ")} ended with ${child.exitCode ?? child.signalCode}:\n${stderr}${stdout}`);
  return stdout;
}
