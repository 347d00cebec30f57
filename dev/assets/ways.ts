// Turns the sources of pins into ways that can be tried: each writes finished programs into a scratch folder or fails with the
// reason. It neither caches programs nor locks.
import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Cache, platformName } from "./cache.ts";
import { checkVersion } from "./check-version.ts";
import { download } from "./download.ts";
import { type Archive, type AssetName, isAssetName, PINS, type Source } from "./pins.ts";
import { runProgram } from "./run-program.ts";
import type { Progress } from "./ticker.ts";
import { provideGo } from "./toolchain/find-go.ts";
import { buildWithGo } from "./toolchain/go-build.ts";
import { fetchWheel } from "./wheel.ts";
import { readZipFile } from "./zip.ts";

const EXTRACT_TIMEOUT_MS = 300_000;

/** What a way works with. */
export interface Workplace {
  readonly cache: Cache;
  /** Empty; the programs are written to it under their own names. */
  readonly scratch: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
  /** Whether programs of the distribution may be installed on the way. */
  readonly install?: boolean;
}

/** A way to get programs. */
export interface Way {
  /** Programs with equal ids are fetched together; if it failed for one, it fails for the others. */
  readonly id: string;
  /** Downloads of releases come first for all programs; the others run side by side, builds one after the other. */
  readonly type: Source["type"];
  readonly title: string;
  /** Writes these programs, and perhaps others that come with them, into the scratch folder; returns the names. */
  fetch(names: readonly AssetName[], at: Workplace): Promise<readonly AssetName[]>;
}

/** The ways to get a pinned program, in the order to try them. */
export function waysFor(name: AssetName): readonly Way[] {
  return PINS[name].sources.map((source) => checked(wayFor(name, source)));
}

/** The same way, followed by a look at what came: a program of another version is not taken. */
function checked(way: Way): Way {
  return {
    ...way,
    async fetch(names, at) {
      const made = await way.fetch(names, at);
      for (const name of made) {
        await chmod(join(at.scratch, name), 0o755);
        await checkVersion(join(at.scratch, name), name, PINS[name]);
      }
      return made;
    },
  };
}

function wayFor(name: AssetName, source: Source): Way {
  switch (source.type) {
    case "archive":
      return archiveWay(name, source);
    case "wheel":
      return wheelWay(name, source);
    case "go":
      return goWay(source);
    default:
      return assertNever(source);
  }
}

function goWay({ module }: Source & { readonly type: "go" }): Way {
  return {
    id: `go ${module}`,
    type: "go",
    title: `build from dev/assets/go/${module}`,
    async fetch(names, at) {
      const go = await provideGo(at);
      const packages = names.map((name) => packageOf(name, module));
      at.progress(`building ${names.map((name) => `${name} ${PINS[name].version}`).join(", ")}`);
      const title = names.length === 1 ? names.join() : `${names.length} programs`;
      await buildWithGo({ ...at, go, title, module, packages, folder: at.scratch });
      return names;
    },
  };
}

function packageOf(name: AssetName, module: string): string {
  for (const source of PINS[name].sources) if (source.type === "go" && source.module === module) return source.package;
  throw new Error(`${name} is not built from the Go module ${module}`);
}

function wheelWay(name: AssetName, source: Source & { readonly type: "wheel" }): Way {
  const id = `wheel ${source.requirements}`;
  const title = `wheel pinned in dev/assets/python/${source.requirements}`;
  if (!source.platforms.includes(platformName())) return noWay({ id, title, type: "wheel" });
  return {
    id,
    type: "wheel",
    title,
    async fetch(_, at) {
      const title = `${name} ${PINS[name].version}`;
      const wheel = await fetchWheel({ ...at, title, requirements: source.requirements });
      await writeFile(join(at.scratch, name), await memberOf(wheel, source.members, at));
      return [name];
    },
  };
}

/** Opens one container after the other: a zip archive, or a compressed tar archive inside of one. */
async function memberOf(wheel: Buffer, members: readonly string[], at: Workplace): Promise<Buffer> {
  let content = wheel;
  let title = "the wheel";
  for (const member of members) {
    content = title.endsWith(".tgz") ? await fileOfTar(content, member, at) : readZipFile(content, member, title);
    title = member;
  }
  return content;
}

async function fileOfTar(archive: Buffer, member: string, { scratch, signal }: Workplace): Promise<Buffer> {
  const file = join(scratch, "member.tgz");
  await writeFile(file, archive);
  await runProgram({
    program: "tar",
    args: ["-xzf", file, "-C", scratch, member],
    timeoutMs: EXTRACT_TIMEOUT_MS,
    ...(signal === undefined ? {} : { signal }),
  });
  return readFile(join(scratch, member));
}

function archiveWay(name: AssetName, source: Source & { readonly type: "archive" }): Way {
  const archive = source.archives[platformName()];
  if (archive === undefined)
    return noWay({ id: `archive ${name} ${platformName()}`, title: "official archive", type: "archive" });
  return {
    id: archive.url,
    type: "archive",
    title: `download of ${archive.url}`,
    async fetch(_, at) {
      const control = at.signal === undefined ? {} : { signal: at.signal };
      const file = join(at.scratch, basename(archive.url));
      const { url, checksum } = archive;
      await download({ title: basename(url), url, checksum, output: file, progress: at.progress, ...control });
      const { folder } = archive;
      if (folder === undefined) {
        await rename(file, join(at.scratch, name));
        return [name];
      }
      const names = membersOf(source);
      await extract({ ...archive, folder }, file, names, at);
      await rm(file);
      return names;
    },
  };
}

async function extract(
  { folder }: Archive & { readonly folder: string },
  file: string,
  names: readonly string[],
  { scratch, signal }: Workplace,
): Promise<void> {
  const depth = folder === "" ? 0 : folder.split("/").length;
  const members = names.map((name) => (folder === "" ? name : `${folder}/${name}`));
  await runProgram({
    program: "tar",
    args: ["-xzf", file, "-C", scratch, `--strip-components=${depth}`, ...members],
    timeoutMs: EXTRACT_TIMEOUT_MS,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** One download serves every pinned program of the archive. */
function membersOf(source: Source & { readonly type: "archive" }): readonly AssetName[] {
  return Object.keys(PINS)
    .filter(isAssetName)
    .filter((name) =>
      PINS[name].sources.some((other) => other.type === "archive" && other.archives === source.archives),
    );
}

/** What a project does not publish for this platform. */
function noWay(way: Pick<Way, "id" | "title" | "type">): Way {
  return { ...way, fetch: () => Promise.reject(new Error(`there is none for ${platformName()}`)) };
}

function assertNever(value: never): never {
  throw new Error(`unknown source ${JSON.stringify(value)}`);
}
