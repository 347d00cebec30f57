// The entry point of `kubectl firebolt`: parses the command line, runs one command and sets the exit code.
import { systemClock } from "@firebolt-operator/kube";
import { VERSION } from "../command-line/version.ts";
import { connect } from "./cluster/cluster.ts";
import { parseCommandLine } from "./command-line/command-line.ts";
import { describeError } from "./command-line/describe-error.ts";
import { CommandError, EXIT, type ExitCode } from "./command-line/exit-codes.ts";
import { COMMANDS, GROUPS } from "./commands/command-table.ts";
import { helpText } from "./commands/help.ts";
import { createTerminal, type Terminal } from "./terminal/terminal.ts";

async function run(argv: readonly string[], terminal: Terminal, signal: AbortSignal): Promise<ExitCode> {
  const parsed = parseCommandLine(COMMANDS, GROUPS, argv);
  switch (parsed.type) {
    case "version":
      terminal.line(VERSION);
      return EXIT.ok;
    case "help":
      terminal.out(
        helpText({
          commands: COMMANDS,
          groups: GROUPS,
          words: parsed.words,
          style: terminal.style,
          width: terminal.width,
        }),
      );
      return EXIT.ok;
    case "run": {
      const { command, args, flags } = parsed;
      const execute = await command.load();
      const { env } = process;
      return execute({
        commands: COMMANDS,
        args,
        flags,
        terminal,
        env,
        signal,
        clock: systemClock,
        connect: () => connect({ flags, env, signal, clock: systemClock }),
      });
    }
    default:
      return parsed satisfies never;
  }
}

const terminal = createTerminal(process.stdout, process.stderr, process.env, process.stdin);
const interrupt = new AbortController();
process.on("SIGINT", () => {
  // The first Ctrl+C shuts down, the second exits at once.
  if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
  interrupt.abort(new Error("interrupted"));
});
process.on("SIGTERM", () => interrupt.abort(new Error("terminated")));
// `kubectl firebolt … | head`: a closed pipe is not a failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) =>
  process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.failed),
);
// `kubectl firebolt … 2>&1 | head`: the message is lost, the exit code is still set.
process.stderr.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

try {
  const code = await run(process.argv.slice(2), terminal, interrupt.signal);
  process.exitCode = interrupt.signal.aborted ? EXIT.interrupted : code;
} catch (error) {
  if (interrupt.signal.aborted) process.exitCode = EXIT.interrupted;
  else {
    terminal.err(`${terminal.errorStyle.red("error:")} ${describeError(error)}\n`);
    process.exitCode = error instanceof CommandError ? error.exitCode : EXIT.failed;
  }
}
