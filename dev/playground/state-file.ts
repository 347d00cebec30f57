// The state file of a running playground, one per clone of the project: `npm run stop` and a second `npm start` read it. Process ids are
// reused, so the start time of the process and the id of the boot are part of its identity.
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { link, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cacheFolder } from "../assets/cache.ts";
import { cleanUpFolder } from "./clean-up.ts";

/** Of the folder of every playground. */
export const FOLDER_PREFIX = "firebolt-playground-";

export interface PlaygroundState {
  readonly pid: number;
  /** Boot id and start time of the process, as the kernel reports them. */
  readonly born: string;
  /** All its files are below. */
  readonly folder: string;
  /** Folder of the project that it was started from. */
  readonly clone: string;
}

/** The folder of this copy of the project. */
export const CLONE = realpathSync(join(import.meta.dirname, "../.."));

const FILE = /^playground-[0-9a-f]{12}\.json$/;

/** Two clones of one user run side by side, and neither stops the other's playground. */
export function stateFile(env: NodeJS.ProcessEnv, clone = CLONE): string {
  const hash = createHash("sha256").update(clone).digest("hex").slice(0, 12);
  return join(stateFolder(env), `playground-${hash}.json`);
}

/** The user's XDG state folder, if set; else beside the cached programs. */
function stateFolder(env: NodeJS.ProcessEnv): string {
  const home = env["XDG_STATE_HOME"];
  return home?.startsWith("/") ? join(home, "firebolt-operator") : cacheFolder(env);
}

/** Playgrounds of this user that run from other clones. */
export async function othersRunning(env: NodeJS.ProcessEnv, clone = CLONE): Promise<readonly PlaygroundState[]> {
  const own = stateFile(env, clone);
  const files = (await namesIn(dirname(own))).filter((name) => FILE.test(name)).map((name) => join(dirname(own), name));
  const states = await Promise.all(files.filter((file) => file !== own).map(readState));
  return states.filter((state) => state !== undefined).filter(isRunning);
}

/** What this process writes about itself. */
export function ownState(folder: string, clone = CLONE): PlaygroundState {
  const born = birthOf(process.pid);
  if (born === undefined) throw new Error("/proc has no entry for this process: the playground needs Linux");
  return { pid: process.pid, born, folder, clone };
}

/** Boot and start time of a living process; undefined for a dead one. */
export function birthOf(pid: number): string | undefined {
  try {
    // The name in parentheses may hold anything; what follows it is plain. The start time is field 22.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z") return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[19]}`;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export const isRunning = ({ pid, born }: PlaygroundState): boolean => birthOf(pid) === born;

export async function readState(file: string): Promise<PlaygroundState | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return parseState(text, file);
}

export function parseState(text: string, file: string): PlaygroundState {
  const value: unknown = JSON.parse(text);
  if (!isState(value)) throw new Error(`${file} was not written by \`npm start\`: remove it`);
  return value;
}

function isState(value: unknown): value is PlaygroundState {
  if (typeof value !== "object" || value === null) return false;
  if (!("pid" in value && "born" in value && "folder" in value && "clone" in value)) return false;
  const { pid, born, folder, clone } = value;
  // The folder will be deleted: the state file must not name any other.
  const isOurs = typeof folder === "string" && basename(folder).startsWith(FOLDER_PREFIX);
  return typeof pid === "number" && typeof born === "string" && typeof clone === "string" && isOurs;
}

/** Writes the file unless a playground is running, and returns that one. Cleans up after a playground that was killed. */
export async function claimState(
  file: string,
  own: PlaygroundState,
  progress: (line: string) => void,
): Promise<PlaygroundState | undefined> {
  await mkdir(dirname(file), { recursive: true });
  // Unique to this call: once linked, a write to the draft would be a write to the file.
  const draft = `${file}.${own.pid}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    for (;;) {
      // A link is atomic: the file appears complete, and only one of two processes wins.
      if (await linked(draft, file)) return undefined;
      const other = await readState(file);
      if (other === undefined) continue;
      if (isRunning(other)) return other;
      await removeOrphan(file, other, progress);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes the file of this process, and no other. */
export async function releaseState(file: string, own: PlaygroundState): Promise<void> {
  const present = await readState(file);
  if (present?.pid === own.pid && present.born === own.born) await rm(file, { force: true });
}

/** After a playground that was killed: its processes are gone; its control groups and its folder are not. */
export async function removeOrphan(
  file: string,
  dead: PlaygroundState,
  progress: (line: string) => void,
): Promise<void> {
  progress(`cleaning up after a playground that was killed: ${dead.folder}`);
  await cleanUpFolder(dead.folder);
  await rm(file, { force: true });
}

async function linked(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH");
