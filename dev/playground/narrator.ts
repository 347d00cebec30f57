// What the playground tells a person while it works: one line per step with the time since the start, and what it takes to be quiet about a
// terminal that is gone. Results go to standard output, everything else to standard error.
import type { Style } from "../../src/plugin/terminal/style.ts";
import { createTerminal, type Terminal } from "../../src/plugin/terminal/terminal.ts";

export interface Narrator {
  readonly terminal: Terminal;
  /** Seconds since the start. */
  seconds(): number;
  /** Progress. */
  say(line: string): void;
  /** Something that should not be missed. */
  warn(line: string): void;
}

export function createNarrator(startedMs = performance.now()): Narrator {
  const terminal = createTerminal(process.stdout, process.stderr, process.env);
  const seconds = (): number => (performance.now() - startedMs) / 1000;
  return {
    terminal,
    seconds,
    say: (line) => terminal.err(`${progressLine(seconds(), line, terminal.errorStyle)}\n`),
    warn: (line) => terminal.err(`${terminal.errorStyle.yellow(line)}\n`),
  };
}

/** Aligned up to a thousand seconds; the further lines of a text stay below the first. */
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
