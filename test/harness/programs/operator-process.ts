// Runs the bundled program as a user would: a process with flags, log lines on stderr and an exit code.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");
export const PROGRAM = join(ROOT, "dist/firebolt-operator.mjs");

export interface OperatorProcess extends AsyncDisposable {
  readonly pid: number;
  /** What it has written so far, whole lines and all. */
  readonly stderr: () => string;
  readonly stdout: () => string;
  /** Log lines as objects, in order. */
  readonly log: () => readonly Readonly<Record<string, unknown>>[];
  signal(name: NodeJS.Signals): void;
  /** The exit code; null when a signal ended it. */
  readonly exit: Promise<number | null>;
}

/** Bundles the program from the sources under test, unless the suite has done so for all tests. */
export async function buildProgram(): Promise<void> {
  if (process.env["FIREBOLT_TEST_BUILT"] === "1") return;
  const child = spawn(process.execPath, ["scripts/build.ts"], { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`the build ended with ${code}`);
}

export function startOperator(args: readonly string[], env: NodeJS.ProcessEnv = {}): OperatorProcess {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, KUBECONFIG: "", ...env },
  });
  let stderr = "";
  let stdout = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const exit = once(child, "close").then(() => child.exitCode);
  return {
    pid: child.pid ?? 0,
    stderr: () => stderr,
    stdout: () => stdout,
    log: () => stderr.split("\n").flatMap(parseLogLine),
    signal: (name) => {
      child.kill(name);
    },
    exit,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exit;
    },
  };
}

function parseLogLine(line: string): Record<string, unknown>[] {
  if (!line.startsWith("{")) return [];
  try {
    return [JSON.parse(line) as Record<string, unknown>];
  } catch {
    return []; // The last line may still be arriving.
  }
}
