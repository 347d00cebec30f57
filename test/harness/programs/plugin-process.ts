// Runs the bundled plugin as a user would: a process with arguments, two streams and an exit code. With `terminal` it
// writes to a pseudo-terminal, so that colours and redrawing can be tested.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");
export const PLUGIN = join(ROOT, "dist/kubectl-firebolt.mjs");

export interface PluginResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningPlugin extends AsyncDisposable {
  readonly stdout: () => string;
  readonly stderr: () => string;
  interrupt(): void;
  readonly exit: Promise<PluginResult>;
}

export interface PluginOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
  readonly cwd?: string;
  readonly terminal?: true;
}

export function startPlugin(args: readonly string[], options: PluginOptions = {}): RunningPlugin {
  const plugin = [process.execPath, PLUGIN, ...args];
  const [program = "", ...rest] = options.terminal
    ? ["script", "-qefc", plugin.map(shellQuoted).join(" "), "/dev/null"]
    : plugin;
  const child = spawn(program, rest, {
    cwd: options.cwd ?? ROOT,
    stdio: ["pipe", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", TERM: "xterm", ...options.env },
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  child.stdin.end(options.stdin ?? "");
  const exit = once(child, "close").then(() => ({ code: child.exitCode, ...said }));
  return {
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    interrupt: () => child.kill("SIGINT"),
    exit,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exit;
    },
  };
}

export function runPlugin(args: readonly string[], options: PluginOptions = {}): Promise<PluginResult> {
  return startPlugin(args, options).exit;
}

const shellQuoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
