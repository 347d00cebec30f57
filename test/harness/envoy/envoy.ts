// The real Envoy: checks a configuration, or runs it as a supervised process. Knows nothing of engines.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ManagedProcess, openWorkspace, startProcess, type Workspace } from "@firebolt-operator/kube/testing";
import { resolveAssets } from "../../../dev/assets/resolver.ts";
import { eventually } from "../control-plane/requests.ts";

const READY_MS = 90_000;
const VALIDATE_MS = 90_000;

/** ENVOY_BINARY wins; otherwise the pinned release, fetched when it is not there. A missing Envoy is an error, never a skip. */
export async function envoyBinary(): Promise<string> {
  const binary = process.env["ENVOY_BINARY"] ?? (await resolveAssets(["envoy"])).get("envoy");
  if (binary === undefined || !existsSync(binary)) throw new Error(`there is no Envoy at ${binary ?? "(nowhere)"}`);
  return binary;
}

/** Fails with Envoy's message when it would reject this configuration. Returns its output. */
export async function validateEnvoyConfig(text: string): Promise<string> {
  const workspace = openWorkspace("envoy-validate-");
  try {
    const file = workspace.write("envoy.yaml", text);
    const args = ["--mode", "validate", "-c", file, "--disable-hot-restart"];
    const { stdout, stderr } = await promisify(execFile)(await envoyBinary(), args, { timeout: VALIDATE_MS });
    return `${stdout}${stderr}`;
  } finally {
    await workspace.close();
  }
}

export interface RunningEnvoy {
  readonly process: ManagedProcess;
  readonly adminPort: number;
  /** A page of the administration. */
  admin(path: string, method?: "GET" | "POST"): Promise<string>;
  /** The value of one statistic; a name that Envoy does not have is an error. */
  statistic(name: string): Promise<number>;
  /** Lines of the access log so far; Envoy writes them a moment after the response. */
  accessLog(): readonly string[];
  /** Waits for a line of the access log. */
  logged(part: string | RegExp): Promise<string>;
}

export interface EnvoyOptions {
  /** Names the log file, where one workspace holds several. */
  readonly name?: string;
  readonly config: string;
  readonly adminPort: number;
  /** Worker threads; by default one per core. */
  readonly concurrency?: number;
  /** The text of /etc/resolv.conf as Envoy sees it; by default that of the machine. */
  readonly resolvConf?: string;
}

/** Bind-mounts its first argument over /etc/resolv.conf in a mount namespace of its own, and becomes the rest. */
const WITH_RESOLV_CONF = ["--mount", "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"'];

/** Started as in the pod, apart from the shared memory that several Envoys on one machine would fight over. */
export async function startEnvoy(workspace: Workspace, options: EnvoyOptions): Promise<RunningEnvoy> {
  const { name = "envoy", adminPort } = options;
  const file = workspace.write(`${name}.yaml`, options.config);
  const program = [
    ...[await envoyBinary(), "-c", file, "--disable-hot-restart"],
    ...["--log-level", "warning", "--file-flush-interval-msec", "50"],
    ...(options.concurrency === undefined ? [] : ["--concurrency", String(options.concurrency)]),
  ];
  const [binary = "", ...args] =
    options.resolvConf === undefined
      ? program
      : ["unshare", ...WITH_RESOLV_CONF, workspace.write(`${name}.resolv.conf`, options.resolvConf), ...program];
  const managed = startProcess(workspace, { name, binary, args });
  const admin = async (path: string, method: "GET" | "POST" = "GET"): Promise<string> => {
    const url = `http://127.0.0.1:${adminPort}${path}`;
    const response = await fetch(url, { method, signal: AbortSignal.timeout(60_000) });
    return response.text();
  };
  await managed.waitUntilReady(async () => (await admin("/ready")).startsWith("LIVE"), READY_MS);
  const accessLog = (): readonly string[] =>
    readFileSync(join(workspace.folder, "logs", `${name}.log`), "utf8")
      .split("\n")
      .filter((line) => line.includes(" flags="));
  return {
    process: managed,
    adminPort,
    admin,
    async statistic(statistic) {
      const lines = (await admin(`/stats?filter=${encodeURIComponent(statistic)}`)).split("\n");
      const line = lines.find((candidate) => candidate.startsWith(`${statistic}: `));
      if (line === undefined) throw new Error(`Envoy has no statistic ${statistic}`);
      return Number(line.slice(statistic.length + 2));
    },
    accessLog,
    logged: (part) => {
      const found = (line: string): boolean => (typeof part === "string" ? line.includes(part) : part.test(line));
      return eventually(() => accessLog().find(found) ?? false, { describe: `a log line with ${part}` });
    },
  };
}
