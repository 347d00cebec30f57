// Removes orphaned clusters, whose owner was killed. An owner listens on a socket in its cluster's folder as long as it runs, so a refused
// connection marks an orphan. No other folder is touched.
import { once } from "node:events";
import { readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { runProgram } from "../assets/run-program.ts";

export const FOLDER_PREFIX = "firebolt-cluster-";
export const DISMANTLE = ["/bin/sh", join(import.meta.dirname, "dismantle.sh")] as const;

const SOCKET = "alive.sock";
const DISMANTLE_DEADLINE_MS = 60_000;
const OLD_MS = 60_000;
const RESPONSE_DEADLINE_MS = 2_000;

/**
 * The real path of the folder in which clusters are created. dismantle.sh compares it with the kernel's list of mounts
 * and unmounts only what matches: so no links, and no characters that the list escapes.
 */
export function parentFolder(folder: string): string {
  const path = realpathSync(folder);
  if (!/^[\w./@:+-]+$/.test(path))
    throw new Error(`a cluster cannot be in ${path}: set TMPDIR to a folder without spaces and special characters`);
  return path;
}

/** Marks the folder as in use until it is disposed of or this process exits, however it exits. */
export async function markAlive(folder: string): Promise<Disposable> {
  const server = createServer((socket) => socket.destroy());
  await once(server.listen(join(folder, SOCKET)), "listening");
  server.unref();
  return { [Symbol.dispose]: () => server.close() };
}

/** Removes clusters below this folder whose owners have exited, and reports each. */
export async function removeOrphans(parent: string, progress: (line: string) => void): Promise<void> {
  const candidates = readdirSync(parent)
    .filter((name) => name.startsWith(FOLDER_PREFIX))
    .map((name) => join(parent, name));
  for (const folder of candidates) {
    if (!(await isAbandoned(folder))) continue;
    const [program, ...args] = DISMANTLE;
    try {
      await runProgram({ program, args: [...args, folder], timeoutMs: DISMANTLE_DEADLINE_MS });
      rmSync(folder, { recursive: true, force: true });
      progress(`removed ${folder} of a cluster that was killed`);
    } catch (error) {
      // Its sandbox is still shutting down, or a process of it is still running: another cluster can start anyway.
      progress(`${folder} of a cluster that was killed could not be removed: ${String(error)}`);
    }
  }
}

/** A refused connection: the owner has exited. A folder without a socket is being created right now, unless it is old. */
function isAbandoned(folder: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(join(folder, SOCKET));
    socket.setTimeout(RESPONSE_DEADLINE_MS, () => socket.destroy(new Error(`${folder}: its owner does not respond`)));
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") resolve(true);
      else if (error.code === "ENOENT") resolve(isOld(folder));
      else if (error.code === "EACCES") resolve(false);
      else reject(error);
    });
  });
}

function isOld(folder: string): boolean {
  const made = statSync(folder, { throwIfNoEntry: false });
  return made !== undefined && Date.now() - made.ctimeMs > OLD_MS;
}
