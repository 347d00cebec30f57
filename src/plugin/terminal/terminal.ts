// Input and output of a command: stdout for results, stderr for warnings and progress, and whether each is a terminal.
import { createInterface } from "node:readline/promises";
import { printable, withControls } from "./printable.ts";
import { COLOURED, PLAIN, type Style } from "./style.ts";

export interface Terminal {
  /** Whether stdout is a terminal: only then it may be redrawn. */
  readonly interactive: boolean;
  readonly columns: number;
  readonly rows: number;
  /** Columns after which lines are wrapped; undefined without a terminal, because a program may read them. */
  readonly width: number | undefined;
  readonly style: Style;
  /** Colours of stderr, which may go elsewhere than stdout. */
  readonly errorStyle: Style;
  /** Whether stderr is a terminal: only then progress is drawn there. */
  readonly progress: boolean;
  out(text: string): void;
  /** Unchanged output: data formats, logs, query results. */
  raw(text: string): void;
  /** One line. */
  line(text: string): void;
  warn(text: string): void;
  err(text: string): void;
  /** The line that the user types, empty at the end of input. Undefined without a terminal. */
  readonly ask: Ask | undefined;
}

export type Ask = (question: string, signal: AbortSignal) => Promise<string>;

type Environment = Readonly<Record<string, string | undefined>>;
interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const DEFAULT_COLUMNS = 120;

type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

export function createTerminal(stdout: Stream, stderr: Stream, env: Environment, stdin?: Input): Terminal {
  const coloured = (stream: Stream): boolean => stream.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const errorStyle = coloured(stderr) ? COLOURED : PLAIN;
  const isDumb = env["TERM"] === "dumb";
  const columns = stdout.columns || Number(env["COLUMNS"]) || DEFAULT_COLUMNS;
  return {
    interactive: stdout.isTTY === true && !isDumb,
    progress: stderr.isTTY === true && !isDumb,
    columns,
    width: stdout.isTTY === true ? columns : undefined,
    rows: stdout.rows || 40,
    style: coloured(stdout) ? COLOURED : PLAIN,
    errorStyle,
    out: (text) => void stdout.write(printable(text)),
    raw: (text) => void stdout.write(withControls(text)),
    line: (text) => void stdout.write(printable(`${text}\n`)),
    warn: (text) => void stderr.write(printable(`${errorStyle.yellow("warning:")} ${text}\n`)),
    err: (text) => void stderr.write(printable(text)),
    ask: stdin?.isTTY === true && stderr.isTTY === true ? promptOn(stdin, stderr) : undefined,
  };
}

function promptOn(input: Input, output: Stream): Ask {
  return async (question, signal) => {
    output.write(printable(question));
    const lines = createInterface({ input });
    try {
      const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
      return await Promise.race([lines.question("", { signal }), ended]);
    } finally {
      lines.close();
    }
  };
}
