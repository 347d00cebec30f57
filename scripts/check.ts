// Everything that needs no cluster, in the order in which it fails fastest: `npm run check`.
import { spawnSync } from "node:child_process";

const STEPS: readonly (readonly [string, readonly string[]])[] = [
  ["format", ["biome", "format", "."]],
  ["lint", ["npm", "run", "-s", "lint"]],
  ["typecheck", ["tsc", "--noEmit"]],
  ["generated files", ["node", "scripts/generate.ts", "--check"]],
  ["unit tests", ["vitest", "run", "--project", "unit"]],
];

const skipTests = process.argv.includes("--no-tests");
for (const [name, [command = "", ...args]] of STEPS) {
  if (skipTests && name === "unit tests") continue;
  const startedMs = performance.now();
  const { status, error } = spawnSync(command, args, { stdio: "inherit" });
  if (error !== undefined) throw new Error(`${name}: cannot run ${command}`, { cause: error });
  console.error(
    `${status === 0 ? "ok    " : "FAILED"} ${name} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`,
  );
  if (status !== 0) process.exit(1);
}
