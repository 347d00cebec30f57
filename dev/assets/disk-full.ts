// A full disk, told apart from sources that do not work: trying the next source would fill it again.
import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";

const MEGABYTE = 1_000_000;
/** Measured: the programs 0.7 GB, Go's modules 0.7 GB, its build cache 2.8 GB, and the linker's temporary files. */
const NEEDED_GIGABYTES = 5;

export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT")) return true;
  return /no space left on device|disk quota exceeded/i.test(error.message) || isDiskFull(error.cause);
}

/** What was tried, how much space there is, and what to do. */
export async function diskFullText(folder: string, attempt: string, error: unknown): Promise<string> {
  const reason = error instanceof Error ? error.message : String(error);
  return [
    `the disk is full (${attempt}):`,
    ...reason.split("\n").map((line) => `  ${line}`),
    `Free space: ${await freeText(folder)} in ${folder}, ${await freeText(tmpdir())} in ${tmpdir()}.`,
    `What to do: make room and run the command again; building every program takes about ${NEEDED_GIGABYTES} GB. XDG_CACHE_HOME, GOCACHE, GOMODCACHE and TMPDIR name other folders.`,
  ].join("\n");
}

async function freeText(folder: string): Promise<string> {
  const { bavail, bsize } = await statfs(folder);
  return `${Math.floor((bavail * bsize) / MEGABYTE)} MB`;
}
