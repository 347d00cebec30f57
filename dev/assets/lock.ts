// A lock between processes: one file that names its owner. It saves work (two processes do not build the same program); what
// keeps half-written files from being read is that finished files are renamed into place.
import { randomBytes } from "node:crypto";
import { link, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 100;
const TELL_EVERY_MS = 5_000;
const HEARTBEAT_MS = 2_000;
/** An owner that has not refreshed its lock for so long has exited, even if another process has its id now. */
const SILENCE_MS = 30_000;

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly token: string;
}

/** Runs `action` while no other process holds the lock file; waits for its turn, and logs that it waits. */
export async function withLock<T>(
  path: string,
  progress: (line: string) => void,
  action: () => Promise<T>,
): Promise<T> {
  const token = await acquire(path, progress);
  // Refreshed while the event loop runs; stops with the process, however it exits.
  const heart = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch((error: Error) => progress(`cannot refresh ${path}: ${error.message}`));
  }, HEARTBEAT_MS);
  heart.unref();
  try {
    return await action();
  } finally {
    clearInterval(heart);
    if ((await readOwner(path))?.token === token) await rm(path, { force: true });
  }
}

async function acquire(path: string, progress: (line: string) => void): Promise<string> {
  const token = randomBytes(8).toString("hex");
  const startedMs = performance.now();
  let tellAtMs = 0;
  while (!(await tryCreate(path, { pid: process.pid, host: hostname(), token }))) {
    const owner = await readOwner(path);
    if (await isGone(path, owner)) {
      await moveAway(path, owner);
      continue;
    }
    const waitedMs = performance.now() - startedMs;
    if (waitedMs >= tellAtMs) {
      progress(
        `waiting for process ${owner?.pid ?? "?"}, which is building programs: ${Math.round(waitedMs / 1000)} s`,
      );
      tellAtMs += TELL_EVERY_MS;
    }
    await sleep(POLL_MS);
  }
  return token;
}

/** The file appears whole or not at all: it is written under another name and linked. */
async function tryCreate(path: string, owner: Owner): Promise<boolean> {
  const draft = `${path}.${owner.token}`;
  const file = await open(draft, "w");
  await file.writeFile(JSON.stringify(owner));
  await file.close();
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function isGone(path: string, owner: Owner | undefined): Promise<boolean> {
  if (owner === undefined) return false;
  if (owner.host === hostname() && !isAlive(owner.pid)) return true;
  const silentMs = await ifThere(async () => Date.now() - (await stat(path)).mtimeMs);
  return silentMs !== undefined && silentMs > SILENCE_MS;
}

/** Removes the lock of an owner that has exited, but restores it if another process has acquired it in the meantime. */
async function moveAway(path: string, dead: Owner | undefined): Promise<void> {
  const aside = `${path}.${randomBytes(8).toString("hex")}`;
  await ifThere(() => rename(path, aside));
  const taken = await readOwner(aside);
  if (taken !== undefined && taken.token !== dead?.token) {
    try {
      await link(aside, path);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
  }
  await rm(aside, { force: true });
}

async function readOwner(path: string): Promise<Owner | undefined> {
  const text = await ifThere(() => readFile(path, "utf8"));
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  if (isOwner(value)) return value;
  throw new Error(`${path} is not one of our lock files: remove it if no other process is building programs`);
}

function isOwner(value: unknown): value is Owner {
  if (typeof value !== "object" || value === null) return false;
  if (!("pid" in value && "host" in value && "token" in value)) return false;
  return typeof value.pid === "number" && typeof value.host === "string" && typeof value.token === "string";
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // No permission to signal it: the process runs, as another user.
    return hasCode(error, "EPERM");
  }
}

async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
