// Starts manager processes for a test and collects their output. Every process is terminated with the test, however
// that ends.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { eventually } from "./cluster.ts";
import type { ManagerSettings } from "./manager-settings.ts";

export interface ManagerLine {
  readonly event: string;
  /** Milliseconds of the machine's monotonic clock. */
  readonly atMs: number;
  readonly [field: string]: unknown;
}

export interface ManagerProcess extends AsyncDisposable {
  readonly identity: string;
  readonly lines: readonly ManagerLine[];
  signal(name: NodeJS.Signals): void;
  /** The first line with this event, once it is printed. */
  said(event: string, timeoutMs?: number): Promise<ManagerLine>;
  has(event: string): boolean;
  /** The exit code, once it has exited; null if a signal terminated it. */
  readonly exit: Promise<number | null>;
}

/**
 * Shorter than the defaults, but long enough that a machine which stalls for seconds does not cost a process its lease.
 */
export const QUICK_TIMING = { leaseMs: 9_000, renewDeadlineMs: 6_000, retryMs: 500 };

export const machineMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

export function startManager(
  settings: Pick<ManagerSettings, "kubeconfig" | "namespace" | "identity"> & Partial<ManagerSettings>,
): ManagerProcess {
  const whole: ManagerSettings = {
    lease: "the-lease",
    timing: QUICK_TIMING,
    shutdownTimeoutMs: 8_000,
    work: "write",
    ...settings,
  };
  const program = join(import.meta.dirname, "manager-process.ts");
  const child: ChildProcess = spawn(process.execPath, [program, JSON.stringify(whole)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: ManagerLine[] = [];
  if (child.stdout !== null) createInterface({ input: child.stdout }).on("line", (line) => lines.push(parseLine(line)));
  const ended = once(child, "close");
  const exit = ended.then(() => child.exitCode);
  const find = (event: string): ManagerLine | undefined => lines.find((line) => line.event === event);
  return {
    identity: whole.identity,
    lines,
    exit,
    signal: (name) => child.kill(name),
    has: (event) => find(event) !== undefined,
    said(event, timeoutMs = 90_000) {
      return eventually(() => find(event) ?? false, {
        timeoutMs,
        describe: `"${event}" from ${whole.identity}`,
      });
    },
    async [Symbol.asyncDispose]() {
      // SIGKILL also works on a stopped process.
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}

function parseLine(line: string): ManagerLine {
  const value: unknown = JSON.parse(line);
  if (!isManagerLine(value)) throw new TypeError(`not a line of a manager process: ${line}`);
  return value;
}

function isManagerLine(value: unknown): value is ManagerLine {
  return typeof value === "object" && value !== null && "event" in value && "atMs" in value;
}
