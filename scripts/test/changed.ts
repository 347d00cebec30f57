// What a change can break, in under a minute: `npm run test:changed`. All unit tests that depend on a changed file, and the integration tests of
// the areas that the changed files belong to: those in which a test file or its support changed, or whose part of the program did. What does not
// fit into a minute is listed; it and the rest (other areas, end-to-end tests, the local cluster) are for `npm test`.
//
//   scripts/test/changed.ts [--since COMMIT] [--list]     since: compares with a commit, default main
import { execFileSync, spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createVitest } from "vitest/node";
import { planChanged } from "./changed-areas.ts";
import { fitInto } from "./work-queue.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Files together; lanes work side by side, and start within a few seconds. */
const BUDGET_SECONDS = 150;

const { values } = parseArgs({
  options: { since: { type: "string", default: "main" }, list: { type: "boolean", default: false } },
});
const git = (...args: readonly string[]): readonly string[] =>
  execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).split("\n").filter(Boolean);

/** Committed since, in the working tree, and new. */
function changedFiles(since: string): readonly string[] {
  const [base] = git("merge-base", since, "HEAD");
  if (base === undefined)
    throw new Error(`--since=${since} has nothing in common with HEAD: name a commit or a branch`);
  const found = [...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")];
  return [...new Set(found)].sort();
}

/** Unit tests whose modules import a changed file, as Vitest's module graph has it. */
async function relatedUnitTests(files: readonly string[]): Promise<readonly string[]> {
  const vitest = await createVitest({
    root: ROOT,
    watch: false,
    project: ["unit"],
    related: files.map((file) => join(ROOT, file)),
  });
  try {
    const specifications = await vitest.getRelevantTestSpecifications();
    return specifications.map(({ moduleId }) => moduleId.slice(ROOT.length + 1));
  } finally {
    await vitest.close();
  }
}

const changed = changedFiles(values.since);
const integration = globSync(["test/**/*.integration.test.ts", "packages/*/test/integration/**/*.test.ts"], {
  cwd: ROOT,
});
const { areas, tests } = planChanged(changed, integration);
const unit = await relatedUnitTests(changed);
const { fit, left } = fitInto(BUDGET_SECONDS, [
  ...unit.map((path) => ({ project: "unit", path })),
  ...tests.map((path) => ({ project: "integration", path })),
]);
process.stderr.write(
  `${changed.length} files changed since ${values.since}: ${unit.length} unit test files depend on them, ${tests.length} integration test files are of ${areas.length === 0 ? "no changed area" : areas.join(", ")}\n`,
);
if (left.length > 0)
  process.stderr.write(`too long for a minute, left to npm test:\n${left.map(({ path }) => `  ${path}\n`).join("")}`);
if (values.list) process.stdout.write(fit.map(({ path }) => `${path}\n`).join(""));
else if (fit.length > 0) {
  const suite = join(import.meta.dirname, "suite.ts");
  const paths = fit.map(({ path }) => path);
  const { status } = spawnSync(process.execPath, [suite, "--cluster-lanes=0", ...paths], { stdio: "inherit" });
  process.exitCode = status ?? 1;
}
