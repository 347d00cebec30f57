// Fetches a Python wheel that python/*/requirements.txt pins: with pip, which knows the user's index; on a machine without pip from the index
// that its settings name; as the last resort with the pip of the distribution. The checksum is checked here in any case; nothing of the wheel
// is installed.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { platformName } from "./cache.ts";
import { download } from "./download.ts";
import { configuredIndex, findWheel } from "./python-index.ts";
import { runProgram } from "./run-program.ts";
import { type Progress, withTicker } from "./ticker.ts";

const REQUIREMENTS = join(import.meta.dirname, "python");
const SYSTEM_PROGRAMS = join(import.meta.dirname, "system/main.ts");
const TIMEOUT_MS = 900_000;
const QUESTION_TIMEOUT_MS = 30_000;

export interface WantedWheel {
  /** What is being fetched, for progress. */
  readonly title: string;
  readonly requirements: string;
  /** A folder for intermediate files. */
  readonly scratch: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
  /** Whether a missing pip may be installed from the distribution's package. */
  readonly install?: boolean;
}

/** Returns the wheel. */
export async function fetchWheel(wanted: WantedWheel): Promise<Buffer> {
  const file = join(REQUIREMENTS, wanted.requirements, "requirements.txt");
  const requirement = parseRequirement(await readFile(file, "utf8"), file);
  const folder = join(wanted.scratch, `wheel-${wanted.requirements}`);
  await mkdir(folder, { recursive: true });
  await withTicker(`fetching the wheel of ${wanted.title}`, wanted.progress, () =>
    fetchInto(folder, file, requirement, wanted),
  );
  const [name, ...others] = (await readdir(folder)).filter((one) => one.endsWith(".whl"));
  if (name === undefined || others.length > 0) throw new Error(`${file} does not contain exactly one wheel`);
  const wheel = await readFile(join(folder, name));
  const digest = createHash("sha256").update(wheel).digest("hex");
  if (!requirement.digests.includes(digest))
    throw new Error(`${name} has the sha256 checksum ${digest}, which ${file} does not list`);
  return wheel;
}

async function fetchInto(folder: string, file: string, requirement: Requirement, wanted: WantedWheel): Promise<void> {
  const env = wanted.env ?? process.env;
  const missing = await whyNoPip(wanted);
  if (missing === undefined) return await fetchWithPip(folder, file, wanted);
  const index = await configuredIndex(env);
  if (index !== undefined) {
    const { url, digest } = await findWheel(index, { ...requirement, platform: platformName() });
    const checksum = { algorithm: "sha256", digest } as const;
    const output = join(folder, "fetched.whl");
    return await download({ ...wanted, url: url.href, checksum, output });
  }
  if (wanted.install === false)
    throw new Error(`${missing}, and no Python package index is configured (PIP_INDEX_URL or pip.conf)`);
  await installPip(missing, wanted);
  await fetchWithPip(folder, file, wanted);
}

async function fetchWithPip(folder: string, file: string, { signal, env }: WantedWheel): Promise<void> {
  const flags = ["--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"];
  await runProgram({
    program: "python3",
    args: ["-m", "pip", "download", ...flags, "-r", file, "-d", folder],
    ...(env === undefined ? {} : { env }),
    timeoutMs: TIMEOUT_MS,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Undefined: pip is there. */
async function whyNoPip({ env }: WantedWheel): Promise<string | undefined> {
  try {
    await runProgram({
      program: "python3",
      args: ["-m", "pip", "--version"],
      ...(env === undefined ? {} : { env }),
      timeoutMs: QUESTION_TIMEOUT_MS,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return "code" in error && error.code === "ENOENT"
      ? "this machine has no Python"
      : "the Python of this machine has no pip";
  }
}

async function installPip(missing: string, { progress, signal, env }: WantedWheel): Promise<void> {
  progress(`${missing}, and no Python package index is configured: the distribution's pip is needed`);
  try {
    await runProgram({
      program: process.execPath,
      args: [SYSTEM_PROGRAMS, "pip"],
      ...(env === undefined ? {} : { env }),
      timeoutMs: TIMEOUT_MS,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    throw new Error(`${missing}, and it could not be installed`, { cause: error });
  }
}

export interface Requirement {
  readonly name: string;
  readonly version: string;
  /** SHA-256, one per platform. */
  readonly digests: readonly string[];
}

/** One package with an exact version and checksums, as pip's option --require-hashes reads it. */
export function parseRequirement(text: string, file: string): Requirement {
  const lines = text.split("\n").filter((line) => !line.startsWith("#"));
  const [, name, version] = /^([A-Za-z0-9._-]+)==(\S+)/.exec(lines.join("\n").trim()) ?? [];
  const digests = [...text.matchAll(/--hash=sha256:([0-9a-f]{64})/g)].flatMap((match) => match[1] ?? []);
  if (name === undefined || version === undefined || digests.length === 0)
    throw new Error(`${file} does not pin one package with its checksums`);
  return { name, version, digests };
}
