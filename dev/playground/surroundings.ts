// What this host can do, and what a playground of each kind needs on it: decides between a real cluster and simulated pods, and makes sure
// of programs. Installs Debian packages only as root, and only when allowed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { AssetName } from "../assets/pins.ts";
import { DEFAULT_ASSETS } from "../assets/pins.ts";
import { resolveAssets } from "../assets/resolver.ts";
import type { Mode } from "./place.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Programs of the distribution that the node and the images need. */
const NODE_PROGRAMS = ["unshare", "ip", "containerd", "runc", "cni", "nft", "postgres"];
const NETWORK_PROGRAMS = ["unshare", "ip"];

const ASSETS: Readonly<Record<Mode, readonly AssetName[]>> = {
  cluster: [...DEFAULT_ASSETS, "kubelet", "kube-proxy", "coredns", "envoy", "helm"],
  simulated: [...DEFAULT_ASSETS, "kwok", "coredns", "envoy", "helm"],
  existing: ["kubectl", "helm"],
};

export interface Asking {
  readonly install: boolean;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Undefined: a real cluster is possible here. Otherwise the reason why not. */
export async function whyNoCluster(asking: Asking): Promise<string | undefined> {
  if (process.platform !== "linux") return `a local cluster needs Linux, not ${process.platform}`;
  if (process.getuid?.() !== 0) return "a local cluster needs root (sudo npm start)";
  const missing = await ensurePrograms(NODE_PROGRAMS, asking);
  if (missing !== undefined) return missing;
  const { code, stderr } = await run("sh", [join(ROOT, "scripts/private-machine.sh"), "true"], asking.signal);
  return code === 0 ? undefined : `namespaces of its own are not possible here: ${stderr.trim()}`;
}

/** Fails unless a simulated platform is possible here. */
export async function requireNetwork(asking: Asking): Promise<void> {
  if (process.platform !== "linux")
    throw new Error(`simulated pods need Linux's network namespaces, not ${process.platform}: use --context NAME`);
  const missing = await ensurePrograms(NETWORK_PROGRAMS, asking);
  if (missing !== undefined) throw new Error(missing);
  const { code, stderr } = await run("sh", [join(ROOT, "scripts/private-network.sh"), "true"], asking.signal);
  if (code !== 0) throw new Error(`a network namespace is not possible here: ${stderr.trim()}; use --context NAME`);
}

export async function ensureAssets(mode: Mode, { say }: Asking): Promise<void> {
  await resolveAssets(ASSETS[mode], { progress: say });
}

/** The operator and the plugin, from the sources as they are. */
export async function buildPrograms({ say, signal }: Asking): Promise<void> {
  say("bundling the operator and the kubectl plugin");
  const { code, stderr } = await run(process.execPath, [join(ROOT, "scripts/build.ts")], signal);
  if (code !== 0) throw new Error(`the programs could not be bundled:\n${stderr}`);
}

/** Undefined when all are there, or were installed just now. */
async function ensurePrograms(names: readonly string[], { install, say, signal }: Asking): Promise<string | undefined> {
  const main = join(ROOT, "dev/system/main.ts");
  const args = [main, ...(install ? [] : ["--no-install"]), ...names];
  const { code, stderr } = await run(process.execPath, args, signal, say);
  return code === 0 ? undefined : missingText(stderr);
}

/** What dev/system/main.ts said, in short; the commands that help are above it on the screen. */
export function missingText(said: string): string {
  const names = /^missing: ([^.;\n]+)/m.exec(said)?.[1];
  return names === undefined
    ? "programs are missing, see above"
    : `missing packages: ${names} (the commands are above)`;
}

async function run(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
  say?: (line: string) => void,
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const { FIREBOLT_PRIVATE_NETWORK: _, FIREBOLT_PRIVATE_MACHINE: __, ...env } = process.env;
  const child = spawn(program, args, { cwd: ROOT, env, signal, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (const line of text.split("\n")) if (line.trim() !== "") say?.(line);
  });
  await once(child, "close");
  return { code: child.exitCode, stderr };
}
