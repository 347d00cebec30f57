// The host's end of the half that runs inside namespaces of its own: starts it, asks it, and ends it. Whatever happens to this process, the
// inside notices that its input has ended and takes everything down.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseMessage, renderLine } from "./calls.ts";

const ROOT = join(import.meta.dirname, "../..");
const END_MS = 90_000;
const TAIL_LINES = 20;

export interface MachineOptions {
  /** The script that makes the namespaces, below scripts/. */
  readonly script: "private-machine.sh" | "private-network.sh";
  /** The program of the inside, below dev/playground/inside/. */
  readonly program: string;
  readonly args: readonly string[];
  readonly progress: (line: string) => void;
}

export interface Machine extends AsyncDisposable {
  /** Asks the inside for something; fails when it does, when it ends, or when time is up. */
  call(name: string, input: unknown, timeoutMs: number): Promise<unknown>;
  /** Settles when the inside has ended by itself, with its last words. */
  readonly ended: Promise<string>;
  /** At once and without order: the kernel ends what is inside. */
  kill(): void;
}

interface Waiting {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

export function startMachine(options: MachineOptions): Machine {
  const { FIREBOLT_PRIVATE_NETWORK: _, FIREBOLT_PRIVATE_MACHINE: __, ...env } = process.env;
  const inside = join(import.meta.dirname, "inside", options.program);
  const child = spawn("sh", [join(ROOT, "scripts", options.script), process.execPath, inside, ...options.args], {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "pipe"],
    // Out of the terminal's process group: Ctrl-C reaches the host's half, which ends this one in order.
    detached: true,
    // In namespaces of its own even when this process is in some already.
    env,
  });
  const waiting = new Map<number, Waiting>();
  const tail: string[] = [];
  const ended = watchEnd(child, tail);
  void ended.then((why) => {
    for (const { reject } of waiting.values()) reject(new Error(why));
  });
  listen(child, { waiting, tail, progress: options.progress });
  // Writing to an inside that has just ended: `ended` says so, nothing else needs to.
  child.stdin.on("error", () => child.stdin.destroy());
  let calls = 0;
  return {
    ended,
    kill: () => void child.kill("SIGKILL"),
    call(name, input, timeoutMs) {
      const id = ++calls;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const late = setTimeout(
        () => reject(new Error(`${name} was not done after ${timeoutMs / 1000} s${lastWords(tail)}`)),
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
    // Somebody inside has printed something: part of its last words, and no reason to fall over with everything still running.
    if (message === undefined) remember(line);
    else if (message.type === "progress") progress(message.line);
    else if (message.type === "answer") waiting.get(message.id)?.resolve(message.output);
    else waiting.get(message.id)?.reject(new Error(message.why));
  });
  createInterface({ input: child.stderr }).on("line", remember);
}

async function watchEnd(child: ChildProcessWithoutNullStreams, tail: readonly string[]): Promise<string> {
  try {
    await once(child, "close");
  } catch (error) {
    return `the inside could not be started: ${error instanceof Error ? error.message : error}`;
  }
  return `the inside ended with ${child.signalCode ?? `exit code ${child.exitCode}`}${lastWords(tail)}`;
}

const lastWords = (tail: readonly string[]): string => (tail.length === 0 ? "" : `:\n${tail.join("\n")}`);

async function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = once(child, "close");
  const late = setTimeout(() => child.kill("SIGKILL"), END_MS);
  child.stdin.end();
  await closed;
  clearTimeout(late);
}
