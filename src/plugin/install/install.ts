// `install`: the custom resource definitions, then the operator, each as a Helm release. Running it again upgrades.

import { commandsText } from "../cluster/kubectl.ts";
import { EXIT, UsageError } from "../command-line/exit-codes.ts";
import type { CommandContext, Run } from "../commands/command.ts";
import { clusterArgsOf, ownCommand } from "../own-command.ts";
import { chartReference, type HelmCommand, helmCommand, RELEASES, runHelm } from "./helm.ts";

export const runInstall: Run = async (context) => {
  const { flags, terminal } = context;
  if (flags.text("namespace") !== "")
    throw new UsageError(
      `install does not take -n: set the namespace of the releases with --operator-namespace (default ${flags.text("operator-namespace")}), and the namespaces to watch with --set watchNamespaces={${flags.text("namespace")}}`,
    );
  const commands = installCommands(context);
  if (flags.on("print-commands")) {
    terminal.out(commandsText(commands));
    return EXIT.ok;
  }
  await install(context, commands);
  const next = ownCommand({ namespace: undefined, clusterArgs: clusterArgsOf(flags) }, [
    "quickstart",
    "--skip-install",
    "--bucket",
    "BUCKET",
  ]);
  terminal.line(`Next: apply a FireboltInstance and a FireboltEngine, or: ${next}`);
  return EXIT.ok;
};

export async function install(context: CommandContext, commands: readonly HelmCommand[]): Promise<void> {
  const { terminal } = context;
  for (const command of commands) {
    await runHelm(context, command);
    terminal.line(`${terminal.style.green("✓")} ${command.comment}`);
  }
}

export function installCommands(context: CommandContext): readonly HelmCommand[] {
  const { flags, env } = context;
  const chart = (name: string): string => chartReference(flags, env, name);
  const [sets, values] = [flags.text("set"), flags.text("values")];
  const seconds = Math.ceil((flags.durationMs("timeout") ?? 0) / 1000);
  const upgrade = ["upgrade", "--install", "--create-namespace", "--wait", `--timeout=${seconds}s`];
  return [
    helmCommand(
      context,
      "install the custom resource definitions",
      ...upgrade,
      RELEASES.crds,
      chart("firebolt-operator-crds"),
    ),
    helmCommand(
      context,
      "install the operator",
      ...upgrade,
      "--skip-crds",
      RELEASES.operator,
      chart("firebolt-operator"),
      ...(sets === "" ? [] : ["--set", sets]),
      ...(values === "" ? [] : ["--values", values]),
    ),
  ];
}
