// Runs the pinned Helm as a child process, with its caches and settings in a given folder, so that the user's own Helm
// does not affect it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { resolveAssets } from "../assets/resolver.ts";

export interface HelmProcess {
  readonly args: readonly string[];
  /** For caches and settings; the caller deletes it. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
}

export interface HelmResult {
  /** Null when a signal ended the process. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Helm to its exit, whatever the code. */
export async function spawnHelm({ args, folder, env, signal }: HelmProcess): Promise<HelmResult> {
  const binary = (await resolveAssets(["helm"])).get("helm");
  if (binary === undefined) throw new Error("no binary for helm: run `npm run assets -- --with helm`");
  const homes = { HELM_CACHE_HOME: "cache", HELM_CONFIG_HOME: "config", HELM_DATA_HOME: "data" };
  const folders = Object.fromEntries(Object.entries(homes).map(([name, sub]) => [name, join(folder, sub)]));
  const child = spawn(binary, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, ...folders },
    ...(signal === undefined ? {} : { signal }),
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  await once(child, "close");
  return { code: child.exitCode, stdout, stderr };
}

/** Runs Helm and returns what it printed; throws with its output unless it exits with 0. */
export async function expectHelm(run: HelmProcess): Promise<string> {
  const { code, stdout, stderr } = await spawnHelm(run);
  if (code !== 0) throw new Error(`helm ${run.args.join(" ")} exited with ${code ?? "a signal"}:\n${stderr}${stdout}`);
  return stdout;
}
