// Bundles the operator and the kubectl plugin, each with all it needs at run time, into one file: dist/*.mjs.
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { build } from "esbuild";

const PROGRAMS = [
  { entry: "src/cli/main.ts", outFile: "dist/firebolt-operator.mjs" },
  { entry: "src/plugin/main.ts", outFile: "dist/kubectl-firebolt.mjs" },
] as const;

function revision(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short=12", "HEAD"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "unknown"; // A source archive has no history; the program still has its version.
  }
}

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
for (const { entry, outFile } of PROGRAMS) {
  await build({
    entryPoints: [entry],
    outfile: outFile,
    bundle: true,
    platform: "node",
    target: "node22",
    format: "esm",
    minifySyntax: true,
    keepNames: true,
    sourcemap: false,
    legalComments: "none",
    define: {
      FIREBOLT_OPERATOR_VERSION: JSON.stringify(version),
      FIREBOLT_OPERATOR_REVISION: JSON.stringify(revision()),
    },
    banner: {
      // The CommonJS packages inside the bundle ask for Node's own modules by `require`.
      js: '#!/usr/bin/env node\nimport { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);',
    },
  });
  chmodSync(outFile, 0o755);
  console.error(`${outFile}: ${Math.round(statSync(outFile).size / 1024)} KiB, version ${version}`);
}
