// Bundles the operator and the kubectl plugin, each with all it needs at run time, into one file: dist/*.mjs. The plugin also as
// archives to install from, with a manifest for krew. The project's address is `homepage` in package.json, and nowhere else: until the
// project is published there is none, and no link is made up. $FIREBOLT_RELEASE_URL is the address that the archives will be downloaded from.
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundleProgram, OPERATOR_BUNDLE, versionDefinitions } from "../dev/images/bundle.ts";
import { readSourceVersion } from "../dev/images/source-version.ts";
import { packPlugin } from "./plugin-archives.ts";

const PLUGIN = { entry: "src/plugin/main.ts", outFile: "dist/kubectl-firebolt.mjs" };
const PROGRAMS = [{ entry: OPERATOR_BUNDLE.entry, outFile: "dist/firebolt-operator.mjs" }, PLUGIN];

const root = join(import.meta.dirname, "..");
const source = readSourceVersion(root);
const { homepage } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly homepage?: string };
for (const { entry, outFile } of PROGRAMS) {
  const define = versionDefinitions(source);
  const program = await bundleProgram({ ...OPERATOR_BUNDLE, root, entry, define });
  const file = join(root, outFile);
  mkdirSync(dirname(file), { recursive: true });
  writeWhole(file, program, 0o755);
  console.error(`${outFile}: ${Math.round(program.length / 1024)} KiB, version ${source.version}`);
}

const archives = packPlugin({
  program: readFileSync(join(root, PLUGIN.outFile)),
  licence: readFileSync(join(root, "LICENSE")),
  version: source.version,
  url: process.env["FIREBOLT_RELEASE_URL"] ?? (homepage && `${homepage}/releases/download/v${source.version}`),
  homepage,
});
for (const { path, content } of archives) {
  const file = join(root, "dist", path);
  mkdirSync(dirname(file), { recursive: true });
  writeWhole(file, content, 0o644);
}
console.error(`dist/krew/firebolt.yaml, with the archives that it names`);

/** Atomic: a concurrent reader gets the old file or the new one, never a part. */
function writeWhole(file: string, content: string | Uint8Array, mode: number): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, content);
  chmodSync(unfinished, mode);
  renameSync(unfinished, file);
}
