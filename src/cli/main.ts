// The entry point: selects the subcommand, runs it, and sets the exit code. A subcommand is loaded on demand: the wake
// agent runs in every gateway pod and must not hold the manager in memory.
import { SettingError, UsageError } from "./flags/flag-table.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

type Subcommand = (args: readonly string[]) => Promise<number>;

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  manager: async (args) => (await import("./commands/manager.ts")).runManager(args),
  crds: async (args) => (await import("./commands/crds.ts")).runCrds(args),
  render: async (args) => (await import("./commands/render.ts")).runRender(args),
  sleep: async (args) => (await import("./commands/sleep.ts")).runSleep(args),
  "wake-agent": async (args) => (await import("./commands/wake-agent.ts")).runWakeAgent(args),
};
const DEFAULT_SUBCOMMAND = "manager";

/** Without a subcommand the program is the manager, as `firebolt-operator --flag` has always been. */
async function main(argv: readonly string[]): Promise<number> {
  const [first = ""] = argv;
  const isDefault = first === "" || first.startsWith("-");
  const subcommand = SUBCOMMANDS[isDefault ? DEFAULT_SUBCOMMAND : first];
  if (subcommand === undefined) {
    throw new UsageError(
      `unknown subcommand ${JSON.stringify(first)}: use one of ${Object.keys(SUBCOMMANDS).join(", ")}`,
    );
  }
  return subcommand(isDefault ? argv : argv.slice(1));
}

async function usageOf(subcommand: string | undefined): Promise<string> {
  if (subcommand === "wake-agent") return (await import("./commands/wake-agent.ts")).WAKE_AGENT_USAGE;
  if (subcommand === "crds") return (await import("./commands/crds.ts")).CRDS_USAGE;
  if (subcommand === "render") return (await import("./commands/render.ts")).RENDER_USAGE;
  if (subcommand === "sleep") return (await import("./commands/sleep.ts")).SLEEP_USAGE;
  return (await import("./commands/manager.ts")).MANAGER_USAGE;
}

/** A stack trace does not help with a wrong setting. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof SettingError ? error.message : (error.stack ?? error.message);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${await usageOf(process.argv[2])}\n`);
    process.exitCode = EXIT_USAGE;
  } else {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = EXIT_FAILED;
  }
}
