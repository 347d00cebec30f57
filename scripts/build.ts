// Bundles the operator and the kubectl plugin, each with all it needs at run time, into one file: dist/*.mjs.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundleProgram, OPERATOR_BUNDLE, versionDefinitions } from "../dev/image/bundle.ts";
import { readSourceVersion } from "../dev/image/source-version.ts";

const PROGRAMS = [
  { entry: OPERATOR_BUNDLE.entry, outFile: "dist/firebolt-operator.mjs" },
  { entry: "src/plugin/main.ts", outFile: "dist/kubectl-firebolt.mjs" },
] as const;

const root = join(import.meta.dirname, "..");
const source = readSourceVersion(root);
for (const { entry, outFile } of PROGRAMS) {
  const define = versionDefinitions(source);
  const program = await bundleProgram({ ...OPERATOR_BUNDLE, root, entry, define });
  const file = join(root, outFile);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, program);
  chmodSync(file, 0o755);
  console.error(`${outFile}: ${Math.round(program.length / 1024)} KiB, version ${source.version}`);
}
