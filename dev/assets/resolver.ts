// Finds the programs of a local cluster: in KUBEBUILDER_ASSETS, in the cache, by download, by a build; in this order.
// Programs from the same source are fetched together. When none works it fails and lists every attempt. It never skips
// a program.
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { assetsFolder, type Cache, isExecutable, openCache, platformName } from "./cache.ts";
import { diskFullText, isDiskFull } from "./disk-full.ts";
import { withLock } from "./lock.ts";
import { type AssetName, PINS } from "./pins.ts";
import type { Progress } from "./ticker.ts";
import { type Way, waysFor } from "./ways.ts";

export interface ResolveOptions {
  readonly progress?: Progress;
  readonly env?: NodeJS.ProcessEnv;
  /** Stops downloads and builds. */
  readonly signal?: AbortSignal;
  /** False: programs of the distribution that are needed on the way are not installed. */
  readonly install?: boolean;
  /** How to get a program that is neither provided nor cached. */
  readonly waysFor?: (name: AssetName) => readonly Way[];
}

/** Every source of a program failed. */
export class AssetUnavailableError extends Error {
  override readonly name = "AssetUnavailableError";
}

/** Provides these programs; returns the path of each. */
export async function resolveAssets(
  names: readonly AssetName[],
  options: ResolveOptions = {},
): Promise<ReadonlyMap<AssetName, string>> {
  const search = await openSearch(options);
  if ((await missingOf(search, names)).length > 0)
    await withLock(search.cache.lockFile, search.progress, async () => {
      // Another process may have provided some while this one waited.
      await makeAssets(search, await missingOf(search, names));
    });
  const found = new Map<AssetName, string>();
  for (const name of names) {
    const place = await placeOf(search, name);
    if (place === undefined) throw new AssetUnavailableError(`${name} was removed while it was being provided`);
    found.set(name, place);
  }
  return found;
}

/** Those of these programs that would have to be fetched or built. */
export async function missingAssets(
  names: readonly AssetName[],
  options: ResolveOptions = {},
): Promise<readonly AssetName[]> {
  return missingOf(await openSearch(options), names);
}

interface Search {
  readonly given: string | undefined;
  readonly cache: Cache;
  readonly progress: Progress;
  readonly signal: AbortSignal | undefined;
  readonly install: boolean;
  readonly waysFor: (name: AssetName) => readonly Way[];
  /** Why a way failed, by its id: what cannot be downloaded for one program cannot be for the next. */
  readonly failures: Map<string, string>;
}

async function openSearch(options: ResolveOptions): Promise<Search> {
  const env = options.env ?? process.env;
  return {
    given: env["KUBEBUILDER_ASSETS"] || undefined,
    cache: await openCache(assetsFolder(env)),
    progress: options.progress ?? (() => undefined),
    signal: options.signal,
    install: options.install ?? true,
    waysFor: options.waysFor ?? waysFor,
    failures: new Map(),
  };
}

async function missingOf(search: Search, names: readonly AssetName[]): Promise<readonly AssetName[]> {
  const unique = [...new Set(names)];
  const places = await Promise.all(unique.map((name) => placeOf(search, name)));
  return unique.filter((_, index) => places[index] === undefined);
}

async function placeOf({ given, cache }: Search, name: AssetName): Promise<string | undefined> {
  const cached = cache.pathOf(name, PINS[name].version);
  const places = given === undefined ? [cached] : [resolve(given, name), cached];
  for (const place of places) if (await isExecutable(place)) return place;
  return undefined;
}

/** Round by round: each program is tried by the next of its ways that has not failed. Only while holding the lock. */
async function makeAssets(search: Search, names: readonly AssetName[]): Promise<void> {
  await search.cache.removeScratch();
  let missing = names;
  while (missing.length > 0) {
    const lanes = lanesOf(nextWays(search, missing)).map((lane) => runLane(search, lane));
    // To the end in any case: the lock is released afterwards.
    const failed = (await Promise.allSettled(lanes)).find((lane) => lane.status === "rejected");
    search.signal?.throwIfAborted();
    if (failed !== undefined) throw failed.reason;
    missing = await missingOf(search, missing);
  }
}

interface Errand {
  readonly way: Way;
  readonly names: readonly AssetName[];
}

/** The next way of each program, those that share one together; downloads of releases first. */
function nextWays(search: Search, names: readonly AssetName[]): readonly Errand[] {
  const errands = new Map<string, { way: Way; names: AssetName[] }>();
  for (const name of names) {
    const ways = search.waysFor(name);
    const way = ways.find(({ id }) => !search.failures.has(id));
    if (way === undefined) throw unavailable(search, name, ways);
    const errand = errands.get(way.id) ?? { way, names: [] };
    errand.names.push(name);
    errands.set(way.id, errand);
  }
  const all = [...errands.values()];
  const downloads = all.filter(({ way }) => way.type === "archive");
  return downloads.length > 0 ? downloads : all;
}

/** What may run at the same time: every download; and one build after the other, because a build uses all cores. */
function lanesOf(errands: readonly Errand[]): readonly (readonly Errand[])[] {
  const builds = errands.filter(({ way }) => way.type === "go");
  return [builds, ...errands.filter(({ way }) => way.type !== "go").map((errand) => [errand])];
}

async function runLane(search: Search, errands: readonly Errand[]): Promise<void> {
  for (const errand of errands) await runErrand(search, errand);
}

async function runErrand(search: Search, { way, names }: Errand): Promise<void> {
  const { cache, progress, signal, failures, install } = search;
  const scratch = await cache.openScratch();
  try {
    const made = await way.fetch(names, {
      cache,
      scratch,
      progress,
      install,
      ...(signal === undefined ? {} : { signal }),
    });
    for (const name of made) await cache.keep(join(scratch, name), name, PINS[name].version);
    const absent = names.filter((name) => !made.includes(name));
    if (absent.length > 0) throw new Error(`it holds no ${absent.join(", ")}`);
  } catch (error) {
    if (signal?.aborted) return;
    // Another way would need the same space.
    if (isDiskFull(error)) throw new AssetUnavailableError(await diskFullText(cache.folder, way.title, error));
    const reason = reasonOf(error);
    failures.set(way.id, reason);
    progress(`${way.title} does not work here: ${reason.split("\n", 1)[0]}`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
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
      `${name} ${version} for ${platformName()} is not installed and could not be downloaded or built. Attempts:`,
      ...tried.map((line) => `  - ${line}`),
      `What to do: ${adviceFor(ways)}, or set KUBEBUILDER_ASSETS to a folder that contains ${name}.`,
    ].join("\n"),
  );
}

function adviceFor(ways: readonly Way[]): string {
  const types = ways.map(({ type }) => type);
  const needed = [
    types.includes("archive") ? "connect to the internet" : undefined,
    types.includes("wheel") ? "install Python 3 with pip" : undefined,
    types.includes("go") ? "install Go 1.26 or newer (https://go.dev/dl)" : undefined,
  ];
  return needed.filter((one) => one !== undefined).join(", or ");
}
