// `npm run -s assets [-- --with kwok,envoy]`: makes sure of the programs of a local cluster and prints, as the last line of
// standard output, the folder that holds them. Progress goes to standard error.
import { parseArgs } from "node:util";
import { assetsFolder } from "./cache.ts";
import { linkAssets } from "./link-folder.ts";
import { type AssetName, DEFAULT_ASSETS, isAssetName, PINS } from "./pins.ts";
import { AssetUnavailableError, resolveAssets } from "./resolver.ts";

/** A mistake on the command line. */
class UsageError extends Error {}

function parseNames(args: readonly string[]): readonly AssetName[] {
  const known = `Known names: ${Object.keys(PINS).join(", ")}.`;
  const { values } = readArgs(args);
  const extra = (values.with ?? []).flatMap((list) => list.split(",")).filter((name) => name !== "");
  const unknown = extra.filter((name) => !isAssetName(name));
  if (unknown.length > 0) throw new UsageError(`unknown program ${unknown.join(", ")}. ${known}`);
  return [...DEFAULT_ASSETS, ...extra.filter(isAssetName)];
}

function readArgs(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { with: { type: "string", multiple: true } } });
  } catch (error) {
    throw new UsageError(
      `${error instanceof Error ? error.message : error}\nUsage: npm run -s assets [-- --with NAME,…]`,
    );
  }
}

async function main(args: readonly string[]): Promise<number> {
  try {
    const names = parseNames(args);
    const paths = await resolveAssets(names, { progress: (line) => process.stderr.write(`${line}\n`) });
    process.stdout.write(`${await linkAssets(assetsFolder(process.env), paths)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof AssetUnavailableError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
