// The folder of a control plane, and the reaper that removes it and terminates its processes when the owner exits, even
// by SIGKILL. Knows nothing of Kubernetes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CLOSE_DEADLINE_MS = 60_000;
const REAPER = join(import.meta.dirname, "reaper.sh");

/** A folder and its processes. Both are removed when their owner exits, even by SIGKILL. */
export interface Workspace {
  readonly folder: string;
  /** From now on this process is terminated with the owner. */
  adopt(pid: number): void;
  /** The process has exited: its pid may be reused. */
  release(pid: number): void;
  /** Writes a file that only the owner can read; returns its path. */
  write(name: string, contents: string): string;
  /** Terminates what is still running and removes the folder. */
  close(): Promise<void>;
}

/** Options of a workspace. */
export interface WorkspaceOptions {
  /** Parent of the folder. Default: the system's folder for temporary files. */
  readonly parent?: string;
  /** A program that is called with the folder before it is removed, e.g. to unmount file systems. */
  readonly beforeRemoval?: readonly string[];
}

/** Creates a folder whose name begins with the prefix, and the reaper that removes it. */
export function openWorkspace(prefix: string, options: WorkspaceOptions = {}): Workspace {
  const folder = mkdtempSync(join(options.parent ?? tmpdir(), prefix));
  const reaperArgs = [REAPER, folder, ...(options.beforeRemoval ?? [])];
  // Detached: Ctrl-C in a terminal goes to the owner's whole process group and must not terminate the reaper.
  const reaper = spawn("/bin/sh", reaperArgs, { detached: true, stdio: ["pipe", "ignore", "ignore"], cwd: "/" });
  // Neither the reaper nor its pipe keeps an otherwise idle program running.
  reaper.unref();
  const send = (line: string): void => {
    reaper.stdin.write(`${line}\n`);
  };
  reaper.stdin.on("error", (error) => process.emitWarning(`cannot reach the reaper of ${folder}: ${error.message}`));
  mkdirSync(join(folder, "logs"));
  return {
    folder,
    adopt: (pid) => send(`add ${pid}`),
    release: (pid) => send(`forget ${pid}`),
    write(name, contents) {
      const path = join(folder, name);
      writeFileSync(path, contents, { mode: 0o600 });
      return path;
    },
    close: () => closeWorkspace(reaper, folder),
  };
}

async function closeWorkspace(reaper: ChildProcess, folder: string): Promise<void> {
  reaper.ref();
  reaper.stdin?.end();
  if (reaper.exitCode === null && reaper.signalCode === null)
    await once(reaper, "exit", { signal: AbortSignal.timeout(CLOSE_DEADLINE_MS) });
  if (existsSync(folder)) throw new Error(`${folder} could not be removed`);
}
