// The entry point: picks the subcommand, runs it, and turns what happened into an exit code.
import { UsageError } from "./flags.ts";
import { MANAGER_USAGE, runManager } from "./manager.ts";
import { runRender } from "./render.ts";
import { runSleep } from "./sleep.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

type Subcommand = (args: readonly string[]) => Promise<number>;

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = { manager: runManager, render: runRender, sleep: runSleep };

/** Without a subcommand the program is the manager, as `firebolt-operator --flag` has always been. */
async function main(argv: readonly string[]): Promise<number> {
  const [first = ""] = argv;
  if (first === "" || first.startsWith("-")) return runManager(argv);
  const subcommand = SUBCOMMANDS[first];
  if (subcommand === undefined) {
    throw new UsageError(
      `unknown subcommand ${JSON.stringify(first)}: use one of ${Object.keys(SUBCOMMANDS).join(", ")}`,
    );
  }
  return subcommand(argv.slice(1));
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${MANAGER_USAGE}\n`);
    process.exitCode = EXIT_USAGE;
  } else {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = EXIT_FAILED;
  }
}
