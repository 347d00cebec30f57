// One supervised program: its output goes to a log file, an early exit is detected, and it is stopped with SIGTERM and
// then SIGKILL. Knows nothing of what the program does.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AddressInUseError } from "./ports.ts";
import type { Workspace } from "./workspace.ts";

const POLL_MS = 50;
const GRACE_MS = 10_000;
const KILL_DEADLINE_MS = 30_000;
const TAIL_LINES = 20;

/** A program to start. */
export interface Program {
  readonly name: string;
  readonly binary: string;
  readonly args: readonly string[];
  /** How long it may take to exit after the first signal. Default 10 s. */
  readonly graceMs?: number;
  /** Added to the few variables that every program gets. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A supervised program. */
export interface ManagedProcess {
  readonly name: string;
  readonly pid: number;
  /** The last lines of its log, for error messages. */
  logTail(): string;
  /** How it exited; undefined while it runs. */
  ending(): string | undefined;
  /** Polls `probe` until it returns true; fails if the program exits first or the deadline passes. */
  waitUntilReady(probe: (signal: AbortSignal) => Promise<boolean>, deadlineMs: number): Promise<void>;
  /** Sends the signal, then SIGKILL if necessary, and waits until it has exited. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a program with its output in a log file of the workspace. */
export function startProcess(workspace: Workspace, program: Program): ManagedProcess {
  const { name } = program;
  const logFile = join(workspace.folder, "logs", `${name}.log`);
  const log = openSync(logFile, "a", 0o600);
  const child = spawn(program.binary, program.args, {
    stdio: ["ignore", log, log],
    // Outside the terminal's process group: Ctrl-C reaches the owner, which stops everything in order.
    detached: true,
    cwd: workspace.folder,
    // Nothing of the user's environment (proxies, kubeconfigs, feature gates) may change what runs here.
    env: { PATH: process.env["PATH"] ?? "", HOME: workspace.folder, TMPDIR: workspace.folder, ...program.env },
  });
  closeSync(log);
  child.unref();
  let ending: string | undefined;
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      ending = `could not be started: ${error.message}`;
      resolve();
    });
    child.once("exit", (code, signal) => {
      ending = signal === null ? `exited with code ${code}` : `was terminated by ${signal}`;
      if (child.pid !== undefined) workspace.release(child.pid);
      resolve();
    });
  });
  if (child.pid !== undefined) workspace.adopt(child.pid);

  const managed: ManagedProcess = {
    name,
    pid: child.pid ?? -1,
    logTail: () => readFileSync(logFile, "utf8").trimEnd().split("\n").slice(-TAIL_LINES).join("\n"),
    ending: () => ending,
    waitUntilReady: (probe, deadlineMs) => waitUntilReady(managed, probe, deadlineMs),
    stop: (signal = "SIGTERM") =>
      ending === undefined ? stopProcess(child, ended, { signal, graceMs: program.graceMs ?? GRACE_MS }) : ended,
  };
  return managed;
}

async function waitUntilReady(
  managed: ManagedProcess,
  probe: (signal: AbortSignal) => Promise<boolean>,
  deadlineMs: number,
): Promise<void> {
  const deadline = AbortSignal.timeout(deadlineMs);
  let lastFailure: unknown;
  while (!deadline.aborted) {
    const ending = managed.ending();
    if (ending !== undefined) throw startFailure(managed, ending, lastFailure);
    try {
      if (await probe(deadline)) return;
    } catch (error) {
      // Refused connections are expected while the program starts; the last failure is reported if it never becomes
      // ready.
      lastFailure = error;
    }
    await sleep(POLL_MS);
  }
  throw startFailure(managed, `was not ready after ${deadlineMs / 1000} s`, lastFailure);
}

function startFailure(managed: ManagedProcess, what: string, cause: unknown): Error {
  const tail = managed.logTail();
  const message = `${managed.name} ${what}. Last lines of its log:\n${tail}`;
  if (managed.ending() !== undefined && /address already in use/i.test(tail)) return new AddressInUseError(message);
  return new Error(message, { cause });
}

async function stopProcess(
  child: ChildProcess,
  ended: Promise<void>,
  { signal, graceMs }: { readonly signal: NodeJS.Signals; readonly graceMs: number },
): Promise<void> {
  child.kill(signal);
  if (await endsWithin(ended, signal === "SIGKILL" ? KILL_DEADLINE_MS : graceMs)) return;
  child.kill("SIGKILL");
  if (!(await endsWithin(ended, KILL_DEADLINE_MS))) throw new Error(`process ${child.pid} survived SIGKILL`);
}

async function endsWithin(ended: Promise<void>, limitMs: number): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(limitMs, false, { signal: timer.signal }).catch(() => false);
  const inTime = await Promise.race([ended.then(() => true), late]);
  timer.abort();
  return inTime;
}
