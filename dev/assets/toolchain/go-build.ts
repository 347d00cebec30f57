// Builds programs of one of the pinned Go modules in go/, all with one command: what they share is compiled once. It never changes go.mod or
// go.sum. What was compiled before an interruption is in Go's own cache, and the next run goes on from there.
import { stat } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import { LINKED_VALUES } from "../pins.ts";
import { runProgram } from "../run-program.ts";
import { type Progress, withTicker } from "../ticker.ts";
import { createBuildProgress, type PackageSize } from "./build-progress.ts";
import type { Go } from "./find-go.ts";

const MODULES = join(import.meta.dirname, "../go");
const LIST_TIMEOUT_MS = 1_800_000;
const BUILD_TIMEOUT_MS = 3_600_000;
const GIGABYTE = 1_000_000_000;
/** With less memory the compiler keeps its own, thriftier setting. */
const RELAXED_MEMORY_BYTES = 4 * GIGABYTE;
const SEPARATOR = "\t";

export interface GoBuild {
  readonly go: Go;
  /** What is being built, for progress. */
  readonly title: string;
  readonly module: string;
  readonly packages: readonly string[];
  /** The programs are written to it. */
  readonly folder: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

export async function buildWithGo(build: GoBuild): Promise<void> {
  const control = build.signal === undefined ? {} : { signal: build.signal };
  const common = {
    program: build.go.program,
    cwd: join(MODULES, build.module),
    env: { ...build.go.env, ...compilerMemory() },
    ...control,
  };
  // Lists what will be compiled, and downloads it on the way: only the modules that these programs need.
  const sizes = await withTicker(`fetching the Go modules of ${build.title}`, build.progress, async (detail) => {
    let modules = 0;
    const listed = await runProgram({
      ...common,
      args: [
        "list",
        "-deps",
        `-f={{join .GoFiles ","}}${SEPARATOR}{{.Dir}}${SEPARATOR}{{.ImportPath}}`,
        ...build.packages,
      ],
      timeoutMs: LIST_TIMEOUT_MS,
      onErrorLine(line) {
        if (line.startsWith("go: downloading ")) detail(`${++modules} modules`);
      },
    });
    return packageSizes(listed);
  });
  await withTicker(`compiling ${build.title}`, build.progress, async (detail) => {
    const meter = createBuildProgress(sizes);
    detail(meter.text());
    await runProgram({
      ...common,
      args: [
        "build",
        "-v",
        "-trimpath",
        "-buildvcs=false",
        // Stripped by the linker anyway.
        "-gcflags=all=-dwarf=false",
        `-ldflags=${linkerFlags(build.module)}`,
        "-o",
        `${build.folder}/`,
        ...build.packages,
      ],
      timeoutMs: BUILD_TIMEOUT_MS,
      onErrorLine(line) {
        meter.started(line);
        detail(meter.text());
      },
    });
  });
}

function linkerFlags(module: string): string {
  const values = Object.entries(LINKED_VALUES[module] ?? {}).map(([name, value]) => `-X ${name}=${value}`);
  return ["-s", "-w", ...values].join(" ");
}

/** Collecting garbage takes a quarter of the compiler's time unless it may use more memory. */
export function compilerMemory(availableBytes = availableMemory()): Readonly<Record<string, string>> {
  return availableBytes < RELAXED_MEMORY_BYTES ? {} : { GOGC: "400" };
}

/** Of the machine, or of the control group that this process is limited to. */
function availableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

async function packageSizes(listed: string): Promise<readonly PackageSize[]> {
  return Promise.all(
    listed
      .split("\n")
      .filter((line) => line !== "")
      .map(async (line) => {
        const [files = "", folder = "", name = ""] = line.split(SEPARATOR);
        const paths = files.split(",").filter((file) => file !== "");
        const sizes = await Promise.all(paths.map(async (file) => (await stat(join(folder, file))).size));
        return { name, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
      }),
  );
}
