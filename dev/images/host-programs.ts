// Programs of this machine as entries of a layer, with the libraries they need. It looks and reads; it installs nothing.
import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { libraryFile } from "./node-base.ts";
import { sharedLibrariesOf } from "./shared-libraries.ts";
import type { TarEntry } from "./tar.ts";

export interface PlacedProgram {
  /** On this machine. */
  readonly from: string;
  /** In the image, without the leading slash. */
  readonly to: string;
}

/** The programs and every library they need, but for those that a layer below holds already. */
export function programFiles(programs: readonly PlacedProgram[], below: readonly TarEntry[] = []): readonly TarEntry[] {
  const known = new Set(below.map(({ path }) => path));
  const libraries = sharedLibrariesOf(...programs.map(({ from }) => from)).map(libraryFile);
  return [
    ...programs.map(({ from, to }): TarEntry => ({ type: "file", path: to, content: readFileSync(from), mode: 0o755 })),
    ...libraries.filter(({ path }) => !known.has(path)),
  ];
}

/** Every file below a folder, followed through links, that `wanted` accepts by its path from there. */
export function folderFiles(from: string, to: string, wanted: (path: string) => boolean): readonly TarEntry[] {
  return readdirSync(from, { recursive: true, encoding: "utf8" })
    .filter(wanted)
    .flatMap((path) => {
      const status = statSync(join(from, path));
      if (!status.isFile()) return [];
      const mode = (status.mode & 0o111) === 0 ? 0o644 : 0o755;
      return [{ type: "file", path: `${to}/${path}`, content: readFileSync(join(from, path)), mode } as const];
    });
}

/** A shell and what our scripts call beside it, in /bin. */
export function shellPrograms(tools: readonly string[]): readonly PlacedProgram[] {
  return ["bash", ...tools].map((name) => ({ from: findProgram(name), to: `bin/${name}` }));
}

/** Some programs call the shell by its oldest name. */
export const SHELL_LINK: TarEntry = { type: "link", path: "bin/sh", target: "bash" };

function findProgram(name: string): string {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/bin"];
  const found = folders.filter((folder) => folder !== "").map((folder) => join(folder, name));
  const path = found.find(isExecutable);
  if (path === undefined) throw new Error(`${name} is not on this machine: install it (Debian: bash, coreutils)`);
  return path;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Absent and not executable mean the same here.
  }
}
