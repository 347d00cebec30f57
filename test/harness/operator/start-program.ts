// Starts operator processes for a test and collects their output. The program is bundled once for all processes; every process is
// killed at the end of the test, even of a failed one.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { eventually } from "../control-plane/requests.ts";
import type { OperatorProgramSettings } from "./program-settings.ts";

export interface OperatorProgram extends AsyncDisposable {
  start(settings: Omit<OperatorProgramSettings, "identity"> & { readonly identity?: string }): ProgramProcess;
}

export interface ProgramLine {
  readonly event: string;
  readonly [field: string]: unknown;
}

export interface ProgramProcess extends AsyncDisposable {
  readonly lines: readonly ProgramLine[];
  /** The writes counted so far. */
  readonly writes: readonly string[];
  signal(name: NodeJS.Signals): void;
  said(event: string, timeoutMs?: number): Promise<ProgramLine>;
  /** Counts writes from here. */
  arm(): Promise<void>;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export async function bundleOperatorProgram(): Promise<OperatorProgram> {
  const folder = await mkdtemp(join(tmpdir(), "operator-program-"));
  const program = join(folder, "operator-program.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "engine-operator-program.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    logLevel: "error",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return {
    start: (settings) => startProgram(program, { identity: "operator", ...settings }),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function startProgram(program: string, settings: OperatorProgramSettings): ProgramProcess {
  const child: ChildProcess = spawn(process.execPath, [program, JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: ProgramLine[] = [];
  if (child.stdout !== null) createInterface({ input: child.stdout }).on("line", (line) => lines.push(parseLine(line)));
  const ended = once(child, "close").then(() => child.signalCode ?? child.exitCode ?? -1);
  const said = (event: string, timeoutMs = 90_000): Promise<ProgramLine> =>
    eventually(() => lines.find((line) => line.event === event) ?? false, {
      timeoutMs,
      describe: `"${event}" from ${settings.identity} in ${settings.namespace}, whose last lines were ${JSON.stringify(lines.slice(-3))}`,
    });
  return {
    lines,
    get writes() {
      return lines.flatMap(({ event, text }) => (event === "write" ? [String(text)] : []));
    },
    ended,
    said,
    signal: (name) => child.kill(name),
    async arm() {
      child.kill("SIGUSR2");
      await said("armed");
    },
    async [Symbol.asyncDispose]() {
      // A stopped process takes SIGKILL as well.
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}

function parseLine(line: string): ProgramLine {
  const value: unknown = JSON.parse(line);
  if (typeof value !== "object" || value === null || !("event" in value)) throw new TypeError(`not a line: ${line}`);
  return value as ProgramLine;
}
