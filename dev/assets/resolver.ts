// Finds the programs a local cluster is made of: in KUBEBUILDER_ASSETS, in the cache, by download, by a build; in this order.
// When none works it fails with everything it tried. It never skips.
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { assetsFolder, type Cache, isExecutable, openCache, platformName } from "./cache.ts";
import { withLock } from "./lock.ts";
import { type AssetName, PINS, type Pin } from "./pins.ts";
import type { Progress } from "./ticker.ts";
import { type Way, waysFor } from "./ways.ts";

export interface ResolveOptions {
  readonly progress?: Progress;
  readonly env?: NodeJS.ProcessEnv;
  /** How a program is made that is neither given nor cached. */
  readonly waysFor?: (name: string, pin: Pin) => readonly Way[];
}

/** None of the ways to get a program worked. */
export class AssetUnavailableError extends Error {
  override readonly name = "AssetUnavailableError";
}

/** Provides these programs; returns the path of each. */
export async function resolveAssets(
  names: readonly AssetName[],
  options: ResolveOptions = {},
): Promise<ReadonlyMap<AssetName, string>> {
  const search = await openSearch(options);
  const found = new Map<AssetName, string>();
  // One after the other: a build takes every core there is.
  for (const name of new Set(names)) found.set(name, await resolveAsset(search, name));
  return found;
}

interface Search {
  readonly given: string | undefined;
  readonly cache: Cache;
  readonly progress: Progress;
  readonly waysFor: (name: string, pin: Pin) => readonly Way[];
  /** Why a way failed before, by its id: what cannot be downloaded for one program cannot be for the next. */
  readonly failures: Map<string, string>;
}

async function openSearch(options: ResolveOptions): Promise<Search> {
  const env = options.env ?? process.env;
  return {
    given: env["KUBEBUILDER_ASSETS"] || undefined,
    cache: await openCache(assetsFolder(env)),
    progress: options.progress ?? (() => undefined),
    waysFor: options.waysFor ?? waysFor,
    failures: new Map(),
  };
}

async function resolveAsset(search: Search, name: AssetName): Promise<string> {
  const { given, cache } = search;
  if (given !== undefined) {
    const path = resolve(given, name);
    if (await isExecutable(path)) return path;
  }
  const { version } = PINS[name];
  const cached = cache.pathOf(name, version);
  if (await isExecutable(cached)) return cached;
  return withLock(cache.lockFile, search.progress, async () => {
    // Another process may have made it while this one waited.
    if (await isExecutable(cached)) return cached;
    return makeAsset(search, name);
  });
}

async function makeAsset(search: Search, name: AssetName): Promise<string> {
  const { cache, progress, failures } = search;
  const pin = PINS[name];
  const ways = search.waysFor(name, pin);
  for (const way of ways) {
    if (failures.has(way.id)) continue;
    const scratch = await cache.openScratch();
    try {
      const made = await way.fetch(scratch, progress);
      // All of them have this pin's version: they come from one source.
      for (const one of made) await cache.keep(join(scratch, one), one, pin.version);
      if (made.includes(name)) return cache.pathOf(name, pin.version);
      throw new Error(`it holds no ${name}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      failures.set(way.id, reason);
      progress(`${way.title} does not work here: ${firstLine(reason)}`);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
  throw unavailable(search, name, ways);
}

function unavailable(search: Search, name: AssetName, ways: readonly Way[]): AssetUnavailableError {
  const { version } = PINS[name];
  const { given, cache, failures } = search;
  const tried = [
    given === undefined ? "KUBEBUILDER_ASSETS: not set" : `KUBEBUILDER_ASSETS: ${given} holds no executable ${name}`,
    `cache: no ${cache.pathOf(name, version)}`,
    ...ways.map((way) => `${way.title}: ${failures.get(way.id)?.replaceAll("\n", "\n      ") ?? "not tried"}`),
  ];
  return new AssetUnavailableError(
    [
      `${name} ${version} for ${platformName()} is not on this machine and could not be made. What was tried:`,
      ...tried.map((line) => `  - ${line}`),
      `What to do: ${adviceFor(name)}, or set KUBEBUILDER_ASSETS to a folder that holds ${name}.`,
    ].join("\n"),
  );
}

function adviceFor(name: AssetName): string {
  const types = PINS[name].sources.map((source) => source.type);
  if (types.includes("wheel")) return "install Python 3 with pip";
  return types.includes("archive")
    ? "connect to the internet, or install Go 1.26 or newer (https://go.dev/dl)"
    : "install Go 1.26 or newer (https://go.dev/dl)";
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? text;
