// A program that writes down how it is called and then does what the real one does: for comparing what was announced with what ran.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface RecordedProgram {
  /** To be put first in a path. */
  readonly folder: string;
  readonly file: string;
  /** The arguments of every call since the last read. */
  calls(): readonly (readonly string[])[];
}

const shellQuoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export function recordProgram(parent: string, name: string, real: string): RecordedProgram {
  const folder = join(parent, `recorded-${name}`);
  mkdirSync(folder, { recursive: true });
  const [file, log] = [join(folder, name), join(folder, "calls")];
  // A line feed ends a call, a zero byte ends a word: neither of them is in any word that these tests use.
  const record = `{ printf '%s\\0' "$@"; echo; } >> ${shellQuoted(log)}`;
  writeFileSync(file, `#!/bin/sh\n${record}\nexec ${shellQuoted(real)} "$@"\n`);
  chmodSync(file, 0o755);
  return {
    folder,
    file,
    calls() {
      const text = readLog(log);
      rmSync(log, { force: true });
      return text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => line.split("\0").slice(0, -1));
    },
  };
}

/** Nothing was called yet: nothing is written. */
function readLog(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
