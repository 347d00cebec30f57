// `npm run -s assets [-- --with kwok,envoy]`: provides the programs of a local cluster and prints their folder as the
// last line of standard output. Progress is written to standard error. With `--missing` it only prints the names of
// those that would have to be fetched or built, one per line.
import { parseArgs } from "node:util";
import { assetsFolder } from "./cache.ts";
import { linkAssets } from "./link-folder.ts";
import { type AssetName, DEFAULT_ASSETS, isAssetName, PINS } from "./pins.ts";
import { resolvePythonPackages } from "./python-packages.ts";
import { AssetUnavailableError, missingAssets, resolveAssets } from "./resolver.ts";

const USAGE = "Usage: npm run -s assets [-- --with NAME,… --missing]";
const INTERRUPTED = 130;

/** Invalid arguments. */
class UsageError extends Error {}

/** Python packages, beside the programs. */
const PYTHON_PACKAGES: readonly string[] = ["firebolt-sdk"];

interface Arguments {
  readonly programs: readonly AssetName[];
  readonly pythonPackages: readonly string[];
  readonly onlyMissing: boolean;
}

function parse(args: readonly string[]): Arguments {
  const known = `Known names: ${[...Object.keys(PINS), ...PYTHON_PACKAGES].join(", ")}.`;
  const { values } = readArgs(args);
  const extra = (values.with ?? []).flatMap((list) => list.split(",")).filter((name) => name !== "");
  const unknown = extra.filter((name) => !isAssetName(name) && !PYTHON_PACKAGES.includes(name));
  if (unknown.length > 0) throw new UsageError(`unknown program ${unknown.join(", ")}. ${known}`);
  return {
    programs: [...DEFAULT_ASSETS, ...extra.filter(isAssetName)],
    pythonPackages: extra.filter((name) => PYTHON_PACKAGES.includes(name)),
    onlyMissing: values.missing ?? false,
  };
}

function readArgs(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { with: { type: "string", multiple: true }, missing: { type: "boolean" } },
    });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  }
}

async function main(args: readonly string[]): Promise<number> {
  const interrupt = new AbortController();
  // The compiler is stopped as well; what it has finished stays in its cache.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => interrupt.abort());
  try {
    const { programs, pythonPackages, onlyMissing } = parse(args);
    if (onlyMissing) {
      for (const name of await missingAssets(programs)) process.stdout.write(`${name}\n`);
      return 0;
    }
    const progress = (line: string) => process.stderr.write(`${line}\n`);
    const paths = await resolveAssets(programs, { progress, signal: interrupt.signal });
    for (const name of pythonPackages) await resolvePythonPackages(name, { progress });
    process.stdout.write(`${await linkAssets(assetsFolder(process.env), paths)}\n`);
    return 0;
  } catch (error) {
    if (interrupt.signal.aborted) return INTERRUPTED;
    if (!(error instanceof UsageError || error instanceof AssetUnavailableError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
