// The entry point: picks the subcommand, runs it, and turns what happened into an exit code. A subcommand is loaded when it is
// picked: the wake agent runs beside every gateway, and should not carry the manager in its memory.
import { SettingError, UsageError } from "./flags.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

type Subcommand = (args: readonly string[]) => Promise<number>;

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  manager: async (args) => (await import("./manager.ts")).runManager(args),
  crds: async (args) => (await import("./crds.ts")).runCrds(args),
  render: async (args) => (await import("./render.ts")).runRender(args),
  sleep: async (args) => (await import("./sleep.ts")).runSleep(args),
  "wake-agent": async (args) => (await import("./wake-agent.ts")).runWakeAgent(args),
};
const DEFAULT_SUBCOMMAND = "manager";

/** Without a subcommand the program is the manager, as `firebolt-operator --flag` has always been. */
async function main(argv: readonly string[]): Promise<number> {
  const [first = ""] = argv;
  const unnamed = first === "" || first.startsWith("-");
  const subcommand = SUBCOMMANDS[unnamed ? DEFAULT_SUBCOMMAND : first];
  if (subcommand === undefined) {
    throw new UsageError(
      `unknown subcommand ${JSON.stringify(first)}: use one of ${Object.keys(SUBCOMMANDS).join(", ")}`,
    );
  }
  return subcommand(unnamed ? argv : argv.slice(1));
}

async function usageOf(subcommand: string | undefined): Promise<string> {
  if (subcommand === "wake-agent") return (await import("./wake-agent.ts")).WAKE_AGENT_USAGE;
  if (subcommand === "crds") return (await import("./crds.ts")).CRDS_USAGE;
  if (subcommand === "render") return (await import("./render.ts")).RENDER_USAGE;
  if (subcommand === "sleep") return (await import("./sleep.ts")).SLEEP_USAGE;
  return (await import("./manager.ts")).MANAGER_USAGE;
}

/** A stack tells nothing about a wrong setting. */
function textOf(error: unknown): string {
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
    process.stderr.write(`${textOf(error)}\n`);
    process.exitCode = EXIT_FAILED;
  }
}
