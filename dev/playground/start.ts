// `npm start`: reads the command line, makes sure that only one playground runs, plays, and turns what happened into an exit code. With
// `--check` the last line of standard output is JSON.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Arguments, HELP, parseArguments } from "./arguments.ts";
import { renderReport } from "./check-report.ts";
import { type Interrupt, listenForInterrupt } from "./interrupt.ts";
import { createNarrator, type Narrator, surviveClosedTerminal } from "./narrator.ts";
import { type Decision, decide } from "./open-place.ts";
import { play } from "./play.ts";
import { CHECK_QUERIES } from "./queries.ts";
import { claimState, FOLDER_PREFIX, ownState, releaseState, stateFile } from "./state-file.ts";
import { sweepFolder } from "./sweep.ts";

const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args);
  switch (parsed.type) {
    case "help":
      process.stdout.write(HELP);
      return EXIT.ok;
    case "refused":
      process.stderr.write(`${parsed.why}; \`npm start -- --help\` lists what there is\n`);
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
  const narrator = createNarrator();
  const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  const [file, own] = [stateFile(process.env), ownState(folder)];
  try {
    // A check has an end of its own and may run beside a playground.
    const other = wanted.check ? undefined : await claimState(file, own, narrator.say);
    if (other !== undefined) {
      narrator.warn(
        `a playground is running already (process ${other.pid}, files in ${other.folder}): \`npm run stop\` ends it`,
      );
      return EXIT.failed;
    }
    return await run(wanted, { folder, narrator, interrupt });
  } finally {
    await sweepFolder(folder);
    await releaseState(file, own);
  }
}

interface Surroundings {
  readonly folder: string;
  readonly narrator: Narrator;
  readonly interrupt: Interrupt;
}

async function run({ target, install, check }: Start, around: Surroundings): Promise<number> {
  const { folder, narrator, interrupt } = around;
  const { signal } = interrupt;
  const { say, warn } = narrator;
  const decision = await decideOr(signal, () => decide(target, { install, say, signal }));
  if (decision === undefined) return EXIT.interrupted;
  const opening = { target, folder, install, say, warn, signal };
  const played = await play({ decision, opening, check, narrator, interrupt });
  if (check) {
    const report = renderReport({
      ...played,
      ...decision,
      wantedQueries: CHECK_QUERIES,
      totalSeconds: narrator.seconds(),
    });
    for (const failure of report.failures) warn(failure);
    narrator.terminal.line(JSON.stringify(report));
    return report.ok ? EXIT.ok : signal.aborted ? EXIT.interrupted : EXIT.failed;
  }
  // After Ctrl-C whatever was cut short has failed; only the end itself still matters.
  const failures = signal.aborted ? played.failures.filter((one) => one.startsWith("while ")) : played.failures;
  for (const failure of failures) warn(failure);
  if (failures.length === 0) say("nothing is left of it");
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
