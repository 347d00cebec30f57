// Finished image archives between runs, one file per name and key. A file that exists is complete: it was renamed into place. A few
// older ones are kept for clusters that still start from them.
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "../assets/lock.ts";
import type { Progress } from "../assets/ticker.ts";

/** How many archives of one name are kept, and for how long those beyond that number after they were last used. */
const KEPT = 2;
const IN_USE_MS = 900_000;

export interface StoredArchive {
  readonly references: readonly string[];
  readonly file: string;
}

export interface MadeArchive {
  readonly references: readonly string[];
  readonly archive: Buffer;
}

export interface Making {
  readonly name: string;
  readonly key: string;
  readonly progress: Progress;
  readonly make: () => Promise<MadeArchive>;
}

export interface ArchiveStore {
  find(name: string, key: string): Promise<StoredArchive | undefined>;
  /** Builds it once, however many processes request it at the same time. */
  make(making: Making): Promise<StoredArchive>;
}

export async function openArchiveStore(folder: string): Promise<ArchiveStore> {
  await mkdir(folder, { recursive: true });
  const find = async (name: string, key: string): Promise<StoredArchive | undefined> => {
    const [list, file] = filesOf(folder, name, key);
    const references = await ifThere(async () => parseReferences(await readFile(list, "utf8"), list));
    if (references === undefined) return undefined;
    const now = new Date();
    return ifThere(async () => {
      await utimes(file, now, now);
      return { references, file };
    });
  };
  return {
    find,
    make: ({ name, key, progress, make }) =>
      withLock(join(folder, "lock"), progress, async () => {
        const existing = await find(name, key);
        if (existing !== undefined) return existing;
        const { references, archive } = await make();
        const [list, file] = filesOf(folder, name, key);
        await moveIntoPlace(file, archive);
        // Written last: it marks the archive as complete.
        await moveIntoPlace(list, JSON.stringify(references));
        await removeOld(folder, name);
        return { references, file };
      }),
  };
}

/** The names that an archive holds, and the archive. */
const filesOf = (folder: string, name: string, key: string): readonly [list: string, archive: string] => [
  join(folder, `${name}-${key}.json`),
  join(folder, `${name}-${key}.tar`),
];

async function moveIntoPlace(file: string, content: Buffer | string): Promise<void> {
  await writeFile(`${file}.part`, content);
  await rename(`${file}.part`, file);
}

function parseReferences(text: string, file: string): readonly string[] {
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw new Error(`${file} is not a list of image names: remove it`);
}

/** Only while holding the lock. Unfinished files of killed processes are removed too. */
async function removeOld(folder: string, name: string): Promise<void> {
  const names = await readdir(folder);
  for (const part of names.filter((one) => one.endsWith(".part"))) await rm(join(folder, part), { force: true });
  const keys = names.flatMap((one) => new RegExp(`^${name}-([0-9a-f]+)\\.tar$`).exec(one)?.[1] ?? []);
  const aged = await Promise.all(
    keys.map(async (key) => ({ key, usedMs: (await stat(filesOf(folder, name, key)[1])).mtimeMs })),
  );
  const old = aged
    .sort((one, other) => other.usedMs - one.usedMs)
    .slice(KEPT)
    .filter(({ usedMs }) => Date.now() - usedMs > IN_USE_MS);
  for (const { key } of old) for (const file of filesOf(folder, name, key)) await rm(file, { force: true });
}

async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
