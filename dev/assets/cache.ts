// Where programs are kept between runs: one folder per user, keyed by name, version and platform. A file that is there is whole:
// it was renamed into place.
import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** `linux-amd64`, as Go and Kubernetes name it. */
export function platformName(): string {
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  return `${process.platform === "win32" ? "windows" : process.platform}-${architecture}`;
}

/** The project's part of the user's cache folder. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const base = env["XDG_CACHE_HOME"];
  // The XDG base directory specification ignores relative paths there.
  const root = base?.startsWith("/") ? base : join(homedir(), ".cache");
  return join(root, "firebolt-operator");
}

/** The folder of all assets of this user. */
export function assetsFolder(env: NodeJS.ProcessEnv): string {
  return join(cacheFolder(env), "assets");
}

export interface Cache {
  readonly folder: string;
  readonly lockFile: string;
  folderOf(name: string, version: string): string;
  pathOf(name: string, version: string): string;
  /** Creates a folder for unfinished files. */
  openScratch(): Promise<string>;
  /** Removes the unfinished files of killed processes, only while holding the lock. */
  removeScratch(): Promise<void>;
  /** Makes a finished file visible under its final name. */
  keep(file: string, name: string, version: string): Promise<string>;
  /** The same for a whole folder, e.g. a toolchain. */
  keepFolder(folder: string, name: string, version: string): Promise<string>;
}

export async function openCache(folder: string): Promise<Cache> {
  await mkdir(folder, { recursive: true });
  const folderOf = (name: string, version: string) => join(folder, `${name}-${version}-${platformName()}`);
  const pathOf = (name: string, version: string) => join(folderOf(name, version), name);
  return {
    folder,
    lockFile: join(folder, "lock"),
    folderOf,
    pathOf,
    openScratch: () => mkdtemp(join(folder, "scratch-")),
    async removeScratch() {
      const orphans = (await readdir(folder)).filter((name) => name.startsWith("scratch-"));
      for (const name of orphans) await rm(join(folder, name), { recursive: true, force: true });
    },
    async keep(file, name, version) {
      const path = pathOf(name, version);
      await mkdir(dirname(path), { recursive: true });
      await chmod(file, 0o755);
      await rename(file, path);
      return path;
    },
    async keepFolder(from, name, version) {
      const path = folderOf(name, version);
      await rm(path, { recursive: true, force: true });
      await rename(from, path);
      return path;
    },
  };
}

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}
