// A port forward by `kubectl port-forward`: starts it, waits until kubectl reports that it listens, and ends it with
// its owner.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { startDeadline } from "../cluster/deadline.ts";
import { CommandError } from "../command-line/exit-codes.ts";

export interface Forwarding extends AsyncDisposable {
  readonly port: number;
  /** Resolves when kubectl exits by itself, with its output. */
  readonly ended: Promise<string>;
}

export interface ForwardOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

const UP = /Forwarding from 127\.0\.0\.1:(\d+) ->/;
const UP_WITHIN_MS = 15_000;

export async function openForwarding({ args, env, signal }: ForwardOptions): Promise<Forwarding> {
  const program = env["KUBECTL"] || "kubectl";
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...env } });
  const output = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.err += text;
  });
  const ended = endOf(child, program).then((why) => why || kubectlError(output.err) || "kubectl port-forward ended");
  using deadline = startDeadline(signal, UP_WITHIN_MS);
  try {
    const port = await upOn(child, output, { ended, deadline: deadline.signal });
    return { port, ended, [Symbol.asyncDispose]: () => end(child) };
  } catch (error) {
    await end(child);
    if (signal.aborted) throw signal.reason;
    throw error;
  }
}

/** kubectl's error without its `error:` prefix, which is printed before every message anyway. */
export function kubectlError(output: string): string {
  const text = output.trim().replace(/^(?:error: )+/, "");
  return /error upgrading connection/.test(text)
    ? `${text}\nthe node of the pod does not forward ports: simulated nodes cannot, and queries to them are not possible`
    : text;
}

/** kubectl prints its address once it listens; one that exits earlier has printed why. */
async function upOn(
  child: ChildProcess,
  output: { readonly out: string },
  { ended, deadline }: { readonly ended: Promise<string>; readonly deadline: AbortSignal },
): Promise<number> {
  const up = Promise.withResolvers<number>();
  const look = (): void => {
    const port = UP.exec(output.out)?.[1];
    if (port !== undefined) up.resolve(Number(port));
  };
  child.stdout?.on("data", look);
  deadline.addEventListener(
    "abort",
    () => up.reject(new CommandError(`the port is not forwarded after ${UP_WITHIN_MS / 1000} s`)),
    { once: true },
  );
  void ended.then((why) => up.reject(new CommandError(why)));
  return up.promise;
}

/** Empty when it ran; otherwise why it could not be started. */
async function endOf(child: ChildProcess, program: string): Promise<string> {
  try {
    await once(child, "close");
    return "";
  } catch (error) {
    return `${program} cannot be started: ${error instanceof Error ? error.message : error}. It is needed to forward ports`;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = once(child, "close");
  child.kill("SIGTERM");
  await closed;
}
