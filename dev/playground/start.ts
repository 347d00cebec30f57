// `npm start`: reads the command line, makes sure that only one playground runs, runs it, and returns an exit code. With `--check` the last
// line of standard output is JSON.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Arguments, HELP, parseArguments } from "./arguments.ts";
import { renderReport } from "./check-report.ts";
import { cleanUpFolder } from "./clean-up.ts";
import { type Interrupt, listenForInterrupt } from "./interrupt.ts";
import { type Decision, decide } from "./open-target.ts";
import { play } from "./play.ts";
import { createProgressOutput, type ProgressOutput, surviveClosedTerminal } from "./progress-output.ts";
import { CHECK_QUERIES } from "./queries.ts";
import { claimState, FOLDER_PREFIX, ownState, releaseState, stateFile } from "./state-file.ts";

const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args);
  switch (parsed.type) {
    case "help":
      process.stdout.write(HELP);
      return EXIT.ok;
    case "refused":
      process.stderr.write(`${parsed.why}; \`npm start -- --help\` lists the flags\n`);
      return EXIT.usage;
    case "start":
      return await start(parsed);
    default:
      return parsed satisfies never;
  }
}

type Start = Extract<Arguments, { readonly type: "start" }>;

async function start(wanted: Start): Promise<number> {
  surviveClosedTerminal();
  const interrupt = listenForInterrupt();
  const output = createProgressOutput();
  const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  const [file, own] = [stateFile(process.env), ownState(folder)];
  try {
    // A check exits on its own and may run beside a playground.
    const other = wanted.check ? undefined : await claimState(file, own, output.progress);
    if (other !== undefined) {
      output.warn(
        `a playground is running already (process ${other.pid}, files in ${other.folder}): \`npm run stop\` stops it`,
      );
      return EXIT.failed;
    }
    return await run(wanted, { folder, output, interrupt });
  } finally {
    await cleanUpFolder(folder);
    await releaseState(file, own);
  }
}

interface RunContext {
  readonly folder: string;
  readonly output: ProgressOutput;
  readonly interrupt: Interrupt;
}

async function run({ choice, install, check }: Start, context: RunContext): Promise<number> {
  const { folder, output, interrupt } = context;
  const { signal } = interrupt;
  const { progress, warn } = output;
  const decision = await decideOr(signal, () => decide(choice, { install, progress, signal }));
  if (decision === undefined) return EXIT.interrupted;
  const opening = { choice, folder, install, progress, warn, signal };
  const played = await play({ decision, opening, check, output, interrupt });
  const all = [...played.failures, ...played.shutdownFailures];
  if (check) {
    const report = renderReport({
      ...played,
      ...decision,
      failures: all,
      wantedQueries: CHECK_QUERIES,
      totalSeconds: output.seconds(),
    });
    for (const failure of report.failures) warn(failure);
    output.terminal.line(JSON.stringify(report));
    return report.ok ? EXIT.ok : signal.aborted ? EXIT.interrupted : EXIT.failed;
  }
  // After Ctrl-C, steps that were interrupted have failed: only the shutdown still matters.
  const failures = signal.aborted ? played.shutdownFailures : all;
  for (const failure of failures) warn(failure);
  if (failures.length === 0) progress("everything was removed");
  return failures.length > 0 ? EXIT.failed : EXIT.ok;
}

/** Undefined when it was interrupted. */
async function decideOr(signal: AbortSignal, work: () => Promise<Decision>): Promise<Decision | undefined> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

process.exitCode = await main(process.argv.slice(2));
