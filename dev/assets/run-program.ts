// Runs a program until it exits and returns its output; a failure carries the end of its output. It prints nothing to
// the terminal.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const TAIL_LINES = 15;

export interface ProgramRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Terminates the program early. */
  readonly signal?: AbortSignal;
  /** Called for each line of standard error as it comes. */
  readonly onErrorLine?: (line: string) => void;
}

export function runProgram(run: ProgramRun): Promise<string> {
  const deadline = AbortSignal.timeout(run.timeoutMs);
  return new Promise((resolve, reject) => {
    const child = spawn(run.program, run.args, {
      cwd: run.cwd,
      env: { ...process.env, ...run.env },
      stdio: ["ignore", "pipe", "pipe"],
      signal: run.signal === undefined ? deadline : AbortSignal.any([deadline, run.signal]),
    });
    let stdout = "";
    let tail: string[] = [];
    const remember = (text: string) => {
      tail = [...tail, ...text.trimEnd().split("\n")].slice(-TAIL_LINES);
    };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      remember(text);
    });
    child.stderr.setEncoding("utf8").on("data", remember);
    if (run.onErrorLine !== undefined) createInterface({ input: child.stderr }).on("line", run.onErrorLine);
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`${run.program} exited with ${signal ?? `code ${code}`}:\n${tail.join("\n")}`));
    });
  });
}
