// Progress output of the playground: one line per step with the time since the start. Results go to standard output, everything else to
// standard error. A terminal that was closed is not an error.
import type { Style } from "../../src/plugin/terminal/style.ts";
import { createTerminal, type Terminal } from "../../src/plugin/terminal/terminal.ts";

export interface ProgressOutput {
  readonly terminal: Terminal;
  /** Seconds since the start. */
  seconds(): number;
  /** Progress. */
  progress(line: string): void;
  /** A highlighted line. */
  warn(line: string): void;
}

export function createProgressOutput(startedMs = performance.now()): ProgressOutput {
  const terminal = createTerminal(process.stdout, process.stderr, process.env);
  const seconds = (): number => (performance.now() - startedMs) / 1000;
  return {
    terminal,
    seconds,
    progress: (line) => terminal.err(`${progressLine(seconds(), line, terminal.errorStyle)}\n`),
    warn: (line) => terminal.err(`${terminal.errorStyle.yellow(line)}\n`),
  };
}

/** Aligned up to a thousand seconds; further lines are indented below the first. */
export function progressLine(seconds: number, line: string, style: Style): string {
  const time = `${seconds.toFixed(1).padStart(6)} s  `;
  const [first = "", ...rest] = line.split("\n");
  return [`${style.dim(time)}${first}`, ...rest.map((more) => `${" ".repeat(time.length)}${more}`)].join("\n");
}

/** A terminal that was closed must not end the program before it has cleaned up. */
export function surviveClosedTerminal(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EIO" && error.code !== "EPIPE") throw error;
    });
}
