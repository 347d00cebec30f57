// Runs an operator as a separate process: the bundle exactly as the chart's Deployment and the image do (arguments,
// environment, V8 flags), or any other program. Its log is written to a file; an unexpected exit is an error with the
// end of that log.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ENVIRONMENT, V8_FLAGS } from "../../dev/images/operator-image.ts";
import { managerArgs } from "../../test/harness/helm/chart-flags.ts";
import { type Harness, SYSTEM_NAMESPACE } from "./harness.ts";
import { meterProcess, type ProcessMeter } from "./process-meter.ts";

const READY_DEADLINE_MS = 120_000;
const LEADING_DEADLINE_MS = 60_000;
/** The log message of each controller when its workers start. */
const STARTED = '"controller started"';
const CONTROLLERS = 3;
const STOP_DEADLINE_MS = 20_000;
const POLL_MS = 20;
const LOG_TAIL_LINES = 20;

export interface Operator extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  readonly meter: ProcessMeter;
  /** From the start of the process until /readyz succeeded; undefined for a program without it. */
  readonly readyMs: number | undefined;
  /** Throws when the process has exited. */
  assertRunning(): void;
  log(): string;
  /** Waits until the program leads and its controllers have started. */
  untilLeading(timeoutMs?: number): Promise<void>;
  /** Sends the signal and waits for the exit. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface OwnOptions {
  /** More flags, after the chart's. */
  readonly flags?: readonly string[];
  /** More arguments of Node, such as --cpu-prof. */
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Port of its probes. Default: 8081, as in the chart. */
  readonly probePort?: number;
  readonly name?: string;
  /** False: return as soon as the process runs. */
  readonly waitForReady?: boolean;
}

/** This operator, as its Deployment runs it. */
export async function startOwnOperator(harness: Harness, options: OwnOptions = {}): Promise<Operator> {
  const { flags = [], nodeArgs = [], env = {}, probePort = 8081, name = "firebolt-operator" } = options;
  const args = [
    ...V8_FLAGS,
    ...nodeArgs,
    harness.program,
    ...managerArgs(harness.objects),
    // In a pod these come from the files of its service account.
    `--kubeconfig=${harness.operatorKubeconfig}`,
    `--leader-election-namespace=${SYSTEM_NAMESPACE}`,
    // No client has a cached address: only the operator's own time is measured.
    "--drain-settle=0s",
    ...flags,
  ];
  const image = Object.fromEntries(ENVIRONMENT.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
  const environment = { ...image, HOME: harness.folder, TMPDIR: harness.folder, ...env };
  const probed = options.waitForReady === false ? undefined : probePort;
  return launch(harness, { name, program: process.execPath, args, environment, probePort: probed });
}

/** Any other program: a shell command, with the kubeconfig in KUBECONFIG and its namespace in POD_NAMESPACE. */
export async function startOtherOperator(harness: Harness, command: string, probePort?: number): Promise<Operator> {
  const environment = {
    ...process.env,
    KUBECONFIG: harness.operatorKubeconfig,
    POD_NAMESPACE: SYSTEM_NAMESPACE,
  };
  const shell = { name: "other", program: "/bin/sh", args: ["-c", `exec ${command}`], environment };
  return launch(harness, { ...shell, probePort });
}

interface Launch {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly probePort: number | undefined;
}

async function launch(harness: Harness, { name, program, args, environment, probePort }: Launch): Promise<Operator> {
  const logFile = join(harness.folder, `${name}-${process.hrtime.bigint()}.log`);
  const log = openSync(logFile, "a");
  const startedMs = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", log, log], env: environment, cwd: harness.folder });
  closeSync(log);
  const ended = endOf(child);
  const tail = (): string => readFileSync(logFile, "utf8").trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
  const assertRunning = (): void => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) return;
    throw new Error(`${name} exited with ${child.signalCode ?? child.exitCode}. The end of its log:\n${tail()}`);
  };
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    const insist = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
    await ended;
    clearTimeout(insist);
  };
  try {
    if (probePort !== undefined) await untilReady(probePort, assertRunning);
    assertRunning();
  } catch (error) {
    await stop("SIGKILL");
    throw error;
  }
  return {
    name,
    pid: child.pid ?? 0,
    meter: meterProcess(child.pid ?? 0),
    readyMs: probePort === undefined ? undefined : Math.round(performance.now() - startedMs),
    assertRunning,
    log: () => readFileSync(logFile, "utf8"),
    async untilLeading(timeoutMs = LEADING_DEADLINE_MS) {
      const deadlineMs = performance.now() + timeoutMs;
      while (readFileSync(logFile, "utf8").split(STARTED).length <= CONTROLLERS) {
        assertRunning();
        if (performance.now() > deadlineMs)
          throw new Error(`${name} is not the leader after ${timeoutMs} ms:\n${tail()}`);
        await sleep(POLL_MS);
      }
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

async function endOf(child: ChildProcess): Promise<void> {
  try {
    await once(child, "exit");
  } catch {
    // The process could not be started: assertRunning reports it.
  }
}

async function untilReady(port: number, assertRunning: () => void): Promise<void> {
  const deadlineMs = performance.now() + READY_DEADLINE_MS;
  for (;;) {
    assertRunning();
    if (await isReady(port)) return;
    if (performance.now() > deadlineMs)
      throw new Error(`/readyz on port ${port} did not succeed within ${READY_DEADLINE_MS} ms`);
    await sleep(POLL_MS);
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    // The server does not listen yet.
    return false;
  }
}
