// Builds a program from one of the pinned Go modules in go/. It never changes go.mod or go.sum, and never fetches another Go.
import { homedir } from "node:os";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";
import { type Progress, withTicker } from "./ticker.ts";

const MODULES = join(import.meta.dirname, "go");
/** On the PATH, or where its installer puts it. */
const GO_PLACES = ["go", "/usr/local/go/bin/go", "/usr/lib/go/bin/go"];
const NEEDED_MINOR = 26;
const QUESTION_TIMEOUT_MS = 30_000;
const BUILD_TIMEOUT_MS = 3_600_000;

export interface GoBuild {
  /** What is being built, for progress. */
  readonly title: string;
  readonly module: string;
  readonly package: string;
  readonly ldflags?: string;
  /** The file to write. */
  readonly output: string;
  readonly progress: Progress;
}

export async function buildWithGo(build: GoBuild): Promise<void> {
  const go = await findGo();
  await withTicker(`building ${build.title} from its Go module`, build.progress, () =>
    runProgram({
      program: go,
      args: [
        "build",
        "-mod=readonly",
        "-trimpath",
        "-buildvcs=false",
        `-ldflags=-s -w ${build.ldflags ?? ""}`.trimEnd(),
        "-o",
        build.output,
        build.package,
      ],
      cwd: join(MODULES, build.module),
      env: goEnvironment(),
      timeoutMs: BUILD_TIMEOUT_MS,
    }),
  );
}

/** The user's flags and workspaces must not change what is built; a bare environment still needs a home for Go's caches. */
function goEnvironment(): Record<string, string> {
  return { GOTOOLCHAIN: "local", GOFLAGS: "", GOWORK: "off", HOME: homedir() };
}

/** The first Go there is; it must be new enough, or the user would wonder which of several is meant. */
export async function findGo(places: readonly string[] = GO_PLACES): Promise<string> {
  const wanted = `Go 1.${NEEDED_MINOR} or newer`;
  for (const go of places) {
    const version = await goVersion(go);
    if (version === undefined) continue;
    const minor = Number(/^go1\.(\d+)/.exec(version)?.[1] ?? 0);
    if (minor >= NEEDED_MINOR) return go;
    throw new Error(`${wanted} is needed, this machine has ${version}`);
  }
  throw new Error(`${wanted} is needed, this machine has none`);
}

async function goVersion(go: string): Promise<string | undefined> {
  try {
    const env = goEnvironment();
    return (await runProgram({ program: go, args: ["env", "GOVERSION"], env, timeoutMs: QUESTION_TIMEOUT_MS })).trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
