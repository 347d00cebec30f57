// Runs `npm start` as a person or a pipeline does, with a folder for temporary files and a state file of its own, and looks for anything
// that outlives it: processes, mounts, control groups, files.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stateFile } from "../../../dev/playground/state-file.ts";
import { eventually } from "../../harness/control-plane/requests.ts";

const ROOT = join(import.meta.dirname, "../../..");
const GONE_MS = 90_000;

export interface PlaygroundRun {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The exit code; null when a signal ended it. */
  readonly exit: Promise<number | null>;
  /** Waits for a text on either stream. */
  said(text: string | RegExp, timeoutMs: number): Promise<string>;
  /** The last line of standard output. */
  report(): unknown;
}

export interface LaunchOptions {
  /** What it is run by. */
  readonly launcher?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface PlaygroundHarness extends AsyncDisposable {
  /** `npm start`, `npm run stop`. */
  npm(args: readonly string[], how?: LaunchOptions): PlaygroundRun;
  /** A file that is removed with the harness; returns its path. */
  write(name: string, text: string): string;
  /** The contents of the state file, if there is one. */
  state(): { readonly pid: number; readonly folder: string } | undefined;
  /** Names of the clusters that have lived here so far, as control groups have them. Looks while one runs. */
  readonly clusters: ReadonlySet<string>;
  /** Everything of every run that is still there. */
  leftovers(): readonly string[];
  /** Waits until nothing is left. */
  untilNothingIsLeft(): Promise<void>;
}

export function openPlaygroundHarness(): PlaygroundHarness {
  // Short: the paths of sockets below it have a limit.
  const home = mkdtempSync("/tmp/pg-");
  const temporary = join(home, "t");
  const state = join(home, "s");
  const env = {
    ...process.env,
    TMPDIR: temporary,
    XDG_STATE_HOME: state,
    NO_COLOR: "1",
    // npm would keep a cache of its own code there.
    NODE_DISABLE_COMPILE_CACHE: "1",
  };
  const clusters = new Set<string>();
  const runs: PlaygroundRun[] = [];
  mkdirSync(temporary);
  const watch = setInterval(() => {
    for (const name of clustersBelow(temporary)) clusters.add(name);
  }, 250);
  const leftovers = (): readonly string[] => [
    ...processesOf(home),
    ...mountsOf(home),
    ...[...clusters].flatMap(controlGroupsOf),
    ...filesBelow(temporary).map((name) => `file ${name}`),
    ...filesBelow(join(state, "firebolt-operator")).map((name) => `state file ${name}`),
  ];
  return {
    clusters,
    npm(args, how = {}) {
      const run = start([...(how.launcher ?? []), "npm", ...args], { ...env, ...how.env });
      runs.push(run);
      return run;
    },
    write(name, text) {
      writeFileSync(join(home, name), text);
      return join(home, name);
    },
    state() {
      const file = stateFile({ XDG_STATE_HOME: state });
      return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
    },
    leftovers,
    async untilNothingIsLeft() {
      const check = (): boolean => leftovers().length === 0;
      await eventually(check, { timeoutMs: GONE_MS, describe: "a complete cleanup" }).catch((error: unknown) => {
        throw new Error(`still there:\n${leftovers().join("\n")}`, { cause: error });
      });
    },
    async [Symbol.asyncDispose]() {
      clearInterval(watch);
      for (const { child } of runs) child.kill("SIGKILL");
      // Only what a failed test has left: each names the folder of this harness.
      for (const pid of pidsOf(home)) process.kill(pid, "SIGKILL");
      await Promise.all(runs.map(({ exit }) => exit));
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function start([program = "", ...args]: readonly string[], env: NodeJS.ProcessEnv): PlaygroundRun {
  // A process group of its own, as a terminal gives it: signals can be sent to all of it.
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const exit = once(child, "close").then(() => child.exitCode);
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    exit,
    said: (text, timeoutMs) =>
      eventually(
        () => {
          const all = stdout + stderr;
          if (typeof text === "string" ? all.includes(text) : text.test(all)) return all;
          if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${all}`);
          return false;
        },
        { timeoutMs, describe: `the words ${text}` },
      ),
    report: () => JSON.parse(stdout.trim().split("\n").at(-1) ?? ""),
  };
}

function clustersBelow(folder: string): readonly string[] {
  return filesBelow(folder).flatMap((name) =>
    filesBelow(join(folder, name)).filter((inner) => inner.startsWith("firebolt-cluster-")),
  );
}

function filesBelow(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return [];
    throw error;
  }
}

function processesOf(folder: string): readonly string[] {
  return pidsOf(folder).map((pid) => `process ${pid}: ${readProc(pid, "cmdline").replaceAll("\0", " ").slice(0, 200)}`);
}

/** Those that name the folder on their command line or in their environment: everything that a run starts has it in one of them. */
function pidsOf(folder: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => readProc(pid, "cmdline").includes(folder) || readProc(pid, "environ").includes(folder));
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return ""; // It has ended meanwhile, or is a zombie: then it has no memory to read.
  }
}

function mountsOf(folder: string): readonly string[] {
  const lines = readFileSync("/proc/self/mounts", "utf8").split("\n");
  return lines.filter((line) => line.includes(folder)).map((line) => `mount ${line}`);
}

function controlGroupsOf(name: string): readonly string[] {
  const roots = ["/sys/fs/cgroup", ...filesBelow("/sys/fs/cgroup").map((one) => join("/sys/fs/cgroup", one))];
  return roots.map((root) => join(root, name)).filter((path) => existsSync(path));
}
