// Runs Helm as a child process, with the cluster of the command line. Its output is shown when it fails.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { CommandError, UsageError } from "../command-line/exit-codes.ts";
import type { FlagValues } from "../command-line/flags.ts";
import type { CommandContext } from "../commands/command.ts";

export const RELEASES = { crds: "firebolt-crds", operator: "firebolt-operator" } as const;

export interface HelmCommand {
  readonly program: "helm";
  readonly comment: string;
  readonly args: readonly string[];
}

export function helmCommand(
  { flags }: Pick<CommandContext, "flags">,
  comment: string,
  ...args: readonly string[]
): HelmCommand {
  const context = flags.text("context");
  const kubeconfig = flags.text("kubeconfig");
  return {
    program: "helm",
    comment,
    args: [
      ...args,
      "--namespace",
      flags.text("operator-namespace"),
      ...(kubeconfig === "" ? [] : ["--kubeconfig", kubeconfig]),
      ...(context === "" ? [] : ["--kube-context", context]),
    ],
  };
}

/** Where the two charts are: a folder or a registry. */
export function chartReference(flags: FlagValues, env: CommandContext["env"], chart: string): string {
  const location = flags.text("charts") || env["FIREBOLT_CHARTS"] || "";
  if (location === "")
    throw new UsageError(
      "the location of the charts is missing: --charts FOLDER, --charts oci://REGISTRY/PATH, or $FIREBOLT_CHARTS",
    );
  return `${location.replace(/\/+$/, "")}/${chart}`;
}

export async function runHelm({ env, signal }: CommandContext, { args, comment }: HelmCommand): Promise<void> {
  const program = env["HELM"] || "helm";
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...env } });
  const stop = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  try {
    await once(child, "close");
  } catch (error) {
    throw new CommandError(
      `${program} cannot be started: ${error instanceof Error ? error.message : error}. It is needed to ${comment}`,
    );
  } finally {
    signal.removeEventListener("abort", stop);
  }
  if (signal.aborted) throw signal.reason;
  if (child.exitCode !== 0)
    throw new CommandError(`helm could not ${comment}: ${output.trim() || `exit code ${child.exitCode}`}`);
}
