// Python packages for test programs, in a folder of the user's cache: pip fetches them from whatever index the user has configured and
// checks every pinned checksum. Nothing is installed into the machine's own Python.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { assetsFolder, openCache, platformName } from "./cache.ts";
import { withLock } from "./lock.ts";
import { AssetUnavailableError } from "./resolver.ts";
import { runProgram } from "./run-program.ts";
import { type Progress, withTicker } from "./ticker.ts";

const REQUIREMENTS = join(import.meta.dirname, "python");
const TIMEOUT_MS = 900_000;
const ASK_MS = 60_000;
/** Older releases need packages that are not pinned. */
const OLDEST_PYTHON = "3.11";

export interface PythonOptions {
  readonly progress?: Progress;
  readonly env?: NodeJS.ProcessEnv;
  /** The interpreter. */
  readonly python?: string;
}

/** The folder, for PYTHONPATH, with what `dev/assets/python/<name>/requirements.txt` pins. */
export async function resolvePythonPackages(
  name: string,
  { progress = () => undefined, env = process.env, python = "python3" }: PythonOptions = {},
): Promise<string> {
  const file = join(REQUIREMENTS, name, "requirements.txt");
  const pinned = createHash("sha256")
    .update(await readFile(file))
    .digest("hex")
    .slice(0, 12);
  const version = await pythonVersion(name, python);
  const cache = await openCache(assetsFolder(env));
  const folder = join(cache.folder, `python-${name}-${pinned}-${version}-${platformName()}`);
  if (existsSync(folder)) return folder;
  return withLock(cache.lockFile, progress, async () => {
    // Another process may have made it while this one waited.
    if (existsSync(folder)) return folder;
    const scratch = await cache.openScratch();
    try {
      const target = join(scratch, "packages");
      await withTicker(`fetching the Python packages of ${name}`, progress, () =>
        install(name, python, { file, target }),
      );
      await rename(target, folder);
      return folder;
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  });
}

async function pythonVersion(name: string, python: string): Promise<string> {
  const program = "import sys; print('.'.join(map(str, sys.version_info[:2])))";
  let version: string;
  try {
    version = (await runProgram({ program: python, args: ["-c", program], timeoutMs: ASK_MS })).trim();
  } catch (error) {
    throw unavailable(name, `${python} does not run`, error);
  }
  if (version.localeCompare(OLDEST_PYTHON, undefined, { numeric: true }) < 0)
    throw unavailable(name, `${python} is version ${version}`);
  return version;
}

async function install(
  name: string,
  python: string,
  { file, target }: { file: string; target: string },
): Promise<void> {
  const only = ["--require-hashes", "--only-binary=:all:", "--no-deps"];
  const args = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    ...only,
    "--target",
    target,
    "-r",
    file,
  ];
  try {
    await runProgram({ program: python, args, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    throw unavailable(name, "pip could not fetch them", error);
  }
}

function unavailable(name: string, why: string, cause?: unknown): AssetUnavailableError {
  const said = cause instanceof Error ? `\n  ${cause.message.replaceAll("\n", "\n  ")}` : "";
  return new AssetUnavailableError(
    `The Python packages of ${name} could not be provided: ${why}.${said}\n` +
      `What to do: install Python ${OLDEST_PYTHON} or newer with pip (on Debian or Ubuntu: apt-get install python3 python3-pip), and let pip reach a package index.`,
    { cause },
  );
}
