// The workflows of .github call only npm scripts, workspaces and files that exist.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const ROOT = join(import.meta.dirname, "..");
const WORKFLOWS = ".github/workflows";
/** Commands of npm itself, not of package.json. */
const BUILT_IN = new Set(["ci", "pack"]);

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const commands = readdirSync(join(ROOT, WORKFLOWS)).flatMap((name) => {
  const { jobs } = parse(readFileSync(join(ROOT, WORKFLOWS, name), "utf8")) as Workflow;
  const runs = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => (run === undefined ? [] : [run])));
  return runs.map((run) => ({ name, run }));
});

/** `npm run -s NAME`, `npm run NAME`, `npm test`, `npm ci`. */
function npmScripts(run: string): readonly string[] {
  return [...run.matchAll(/\bnpm (?:run(?: -s| --silent)? )?([\w:-]+)/g)].map(([, name = ""]) => name);
}

test("npm scripts are found in every form", () => {
  const run = "npm ci --no-audit && npm run check\nx=$(npm run -s assets -- --with helm)\nnpm test";
  expect(npmScripts(run)).toEqual(["ci", "check", "assets", "test"]);
});

test("workflows call only npm scripts that exist", () => {
  const called = commands.flatMap(({ name, run }) => npmScripts(run).map((script) => `${name}: ${script}`));
  expect(called.length).toBeGreaterThan(3);
  const unknown = called.filter((entry) => {
    const script = entry.split(": ")[1] ?? "";
    return !BUILT_IN.has(script) && scripts[script] === undefined;
  });
  expect(unknown).toEqual([]);
});

test("workflows call only files that exist", () => {
  const files = commands.flatMap(({ run }) => run.match(/(?<=^|\s)\.ci\/[\w.-]+/g) ?? []);
  expect(files).toContain(".ci/run");
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test("dependency updates watch folders that exist", () => {
  const config = readFileSync(join(ROOT, ".github/dependabot.yml"), "utf8");
  const { updates } = parse(config) as {
    readonly updates: readonly { readonly directory?: string; readonly directories?: readonly string[] }[];
  };
  const folders = updates.flatMap(({ directory = "/", directories = [directory] }) => directories);
  expect(folders.filter((folder) => !existsSync(join(ROOT, folder)))).toEqual([]);
});
