// Host checks: whether a real cluster or only simulated pods are possible on this host, and whether the required programs are installed.
// Installs Debian packages only as root, and only when allowed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { AssetName } from "../assets/pins.ts";
import { DEFAULT_ASSETS } from "../assets/pins.ts";
import { resolveAssets } from "../assets/resolver.ts";
import type { Mode } from "./target.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Programs of the distribution that the node and the images need. */
const NODE_PROGRAMS = ["unshare", "ip", "containerd", "runc", "cni", "nft", "postgres"];
const NETWORK_PROGRAMS = ["unshare", "ip"];

const ASSETS: Readonly<Record<Mode, readonly AssetName[]>> = {
  cluster: [...DEFAULT_ASSETS, "kubelet", "kube-proxy", "coredns", "envoy", "helm"],
  simulated: [...DEFAULT_ASSETS, "kwok", "coredns", "envoy", "helm"],
  existing: ["kubectl", "helm"],
};

export interface HostCheckOptions {
  readonly install: boolean;
  readonly progress: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Undefined: a real cluster is possible on this host. Otherwise the reason why it is not. */
export async function whyNoCluster(options: HostCheckOptions): Promise<string | undefined> {
  if (process.platform !== "linux") return `a local cluster needs Linux, not ${process.platform}`;
  if (process.getuid?.() !== 0) return "a local cluster needs root (sudo npm start)";
  const missing = await ensurePrograms(NODE_PROGRAMS, options);
  if (missing !== undefined) return missing;
  const { code, stderr } = await run("sh", [join(ROOT, "dev/sandbox/sandbox.sh"), "true"], options.signal);
  return code === 0 ? undefined : `this host does not allow the sandbox: ${stderr.trim()}`;
}

/** Fails unless a simulated platform is possible here. */
export async function requireNetwork(options: HostCheckOptions): Promise<void> {
  if (process.platform !== "linux")
    throw new Error(
      `simulated pods need Linux network namespaces, and this is ${process.platform}: use --context NAME`,
    );
  const missing = await ensurePrograms(NETWORK_PROGRAMS, options);
  if (missing !== undefined) throw new Error(missing);
  const { code, stderr } = await run("sh", [join(ROOT, "dev/sandbox/network.sh"), "true"], options.signal);
  if (code !== 0) throw new Error(`this host does not allow network namespaces: ${stderr.trim()}; use --context NAME`);
}

export async function ensureAssets(mode: Mode, { progress }: HostCheckOptions): Promise<void> {
  await resolveAssets(ASSETS[mode], { progress });
}

/** The operator and the plugin, from the sources as they are. */
export async function buildPrograms({ progress, signal }: HostCheckOptions): Promise<void> {
  progress("bundling the operator and the kubectl plugin");
  const { code, stderr } = await run(process.execPath, [join(ROOT, "scripts/build.ts")], signal);
  if (code !== 0) throw new Error(`bundling the operator and the plugin failed:\n${stderr}`);
}

/** Undefined when all are installed, possibly just now. */
async function ensurePrograms(
  names: readonly string[],
  { install, progress, signal }: HostCheckOptions,
): Promise<string | undefined> {
  const main = join(ROOT, "dev/assets/system/main.ts");
  const args = [main, ...(install ? [] : ["--no-install"]), ...names];
  const { code, stderr } = await run(process.execPath, args, signal, progress);
  return code === 0 ? undefined : missingText(stderr);
}

/** The output of dev/assets/system/main.ts in short; the commands that install the packages are above it on the screen. */
export function missingText(output: string): string {
  const names = /^missing: ([^.;\n]+)/m.exec(output)?.[1];
  return names === undefined
    ? "programs are missing: see the commands above"
    : `missing packages: ${names} (see the commands above)`;
}

async function run(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
  progress?: (line: string) => void,
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const { FIREBOLT_SANDBOX_NETWORK: _, FIREBOLT_SANDBOX: __, ...env } = process.env;
  const child = spawn(program, args, { cwd: ROOT, env, signal, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (const line of text.split("\n")) if (line.trim() !== "") progress?.(line);
  });
  await once(child, "close");
  return { code: child.exitCode, stderr };
}
