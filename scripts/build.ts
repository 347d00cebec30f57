// Bundles the program and all it needs at run time into one file: dist/firebolt-operator.mjs.
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { build } from "esbuild";

const OUT_FILE = "dist/firebolt-operator.mjs";

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
await build({
  entryPoints: ["src/cli/main.ts"],
  outfile: OUT_FILE,
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
chmodSync(OUT_FILE, 0o755);
console.error(`${OUT_FILE}: ${Math.round(statSync(OUT_FILE).size / 1024)} KiB, version ${version}`);
