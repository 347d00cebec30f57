// A process in a sandbox, the host's side: starts it, sends it calls, and shuts it down. When this process exits for whatever reason, the
// standard input of the sandboxed one closes, and it stops everything that it has started.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseMessage, renderLine } from "./calls.ts";

const ROOT = join(import.meta.dirname, "../..");
const SCRIPTS = {
  machine: join(ROOT, "dev/sandbox/sandbox.sh"),
  network: join(ROOT, "dev/sandbox/network.sh"),
} as const;
const SHUTDOWN_MS = 90_000;
const TAIL_LINES = 20;

export interface SandboxedProcessOptions {
  /** `network`: a network namespace. `machine`: network, mount and process namespaces, which a node needs. */
  readonly sandbox: keyof typeof SCRIPTS;
  /** Path of the TypeScript program that runs in the sandbox. */
  readonly program: string;
  readonly args: readonly string[];
  readonly progress: (line: string) => void;
}

export interface SandboxedProcess extends AsyncDisposable {
  /** Calls the sandboxed process; fails when the call fails, the process exits, or the timeout passes. */
  call(name: string, input: unknown, timeoutMs: number): Promise<unknown>;
  /** Resolves when the process has exited, with its last output. */
  readonly ended: Promise<string>;
  /** Without a clean shutdown: the kernel kills everything in the sandbox. */
  kill(): void;
}

interface Waiting {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

export function startSandboxedProcess(options: SandboxedProcessOptions): SandboxedProcess {
  const { FIREBOLT_SANDBOX_NETWORK: _, FIREBOLT_SANDBOX: __, ...env } = process.env;
  const { sandbox, program, args } = options;
  const child = spawn("sh", [SCRIPTS[sandbox], process.execPath, program, ...args], {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "pipe"],
    // Out of the terminal's process group: Ctrl-C reaches the host's process, which shuts this one down cleanly.
    detached: true,
    // A sandbox of its own even when this process is in one already.
    env,
  });
  const waiting = new Map<number, Waiting>();
  const tail: string[] = [];
  const ended = watchEnd(child, tail);
  void ended.then((why) => {
    for (const { reject } of waiting.values()) reject(new Error(why));
  });
  listen(child, { waiting, tail, progress: options.progress });
  // A write to a process that has just exited: `ended` reports it, nothing else needs to.
  child.stdin.on("error", () => child.stdin.destroy());
  let calls = 0;
  return {
    ended,
    kill: () => void child.kill("SIGKILL"),
    call(name, input, timeoutMs) {
      const id = ++calls;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const late = setTimeout(
        () => reject(new Error(`${name} did not finish within ${timeoutMs / 1000} s${lastOutput(tail)}`)),
        timeoutMs,
      );
      waiting.set(id, { resolve, reject });
      if (child.exitCode !== null || child.signalCode !== null) void ended.then((why) => reject(new Error(why)));
      child.stdin.write(renderLine({ id, call: name, input }));
      return promise.finally(() => {
        clearTimeout(late);
        waiting.delete(id);
      });
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}

interface Listening {
  readonly waiting: ReadonlyMap<number, Waiting>;
  readonly tail: string[];
  readonly progress: (line: string) => void;
}

function listen(child: ChildProcessWithoutNullStreams, { waiting, tail, progress }: Listening): void {
  const remember = (line: string): void => {
    tail.push(line);
    tail.splice(0, Math.max(0, tail.length - TAIL_LINES));
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = parseMessage(line);
    // Not a message but plain output: kept for error messages, and no reason to fail while everything runs.
    if (message === undefined) remember(line);
    else if (message.type === "progress") progress(message.line);
    else if (message.type === "response") waiting.get(message.id)?.resolve(message.output);
    else waiting.get(message.id)?.reject(new Error(message.reason));
  });
  createInterface({ input: child.stderr }).on("line", remember);
}

async function watchEnd(child: ChildProcessWithoutNullStreams, tail: readonly string[]): Promise<string> {
  try {
    await once(child, "close");
  } catch (error) {
    return `the sandboxed process could not be started: ${error instanceof Error ? error.message : error}`;
  }
  return `the sandboxed process exited with ${child.signalCode ?? `code ${child.exitCode}`}${lastOutput(tail)}`;
}

const lastOutput = (tail: readonly string[]): string => (tail.length === 0 ? "" : `:\n${tail.join("\n")}`);

async function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = once(child, "close");
  const late = setTimeout(() => child.kill("SIGKILL"), SHUTDOWN_MS);
  child.stdin.end();
  await closed;
  clearTimeout(late);
}
