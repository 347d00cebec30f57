// Removes the folder of a playground, and the mounts and control groups that still belong to it. Only a playground that was killed leaves any:
// its sandboxed process may need a moment to notice, and no other process removes its control groups.
import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runProgram } from "../assets/run-program.ts";
import { FOLDER_PREFIX as CLUSTER_PREFIX, DISMANTLE } from "../cluster/orphans.ts";

const PATIENCE_MS = 60_000;
const POLL_MS = 100;
const DISMANTLE_MS = 60_000;

/** No process uses the folder when this returns. */
export async function cleanUpFolder(folder: string): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  while (isInUse(folder) && performance.now() < deadlineMs) await sleep(POLL_MS);
  const [program, ...args] = DISMANTLE;
  for (const name of list(folder).filter((one) => one.startsWith(CLUSTER_PREFIX)))
    await runProgram({ program, args: [...args, join(folder, name)], timeoutMs: DISMANTLE_MS });
  await rm(folder, { recursive: true, force: true });
}

/** Every process that uses the folder names it on its command line. */
function isInUse(folder: string): boolean {
  return list("/proc").some((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(folder));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch (error) {
    if (isGone(error)) return "";
    throw error;
  }
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH");
