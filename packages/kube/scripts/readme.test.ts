// The README is true: it shows the examples as they are compiled and run, and lists every entry and every kind.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Manifest, sourceManifest } from "./manifest.ts";

const FOLDER = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(FOLDER, path), "utf8");
const readme = read("README.md");

test.each(["examples/configmap-copier/main.ts", "examples/pod-logs/main.ts"])(
  "it shows %s without its header",
  (path) => {
    const source = read(path);
    expect(readme).toContain(`\`\`\`ts\n${source.slice(source.indexOf("import "))}\`\`\`\n`);
  },
);

test("the table has every entry of the package", () => {
  const { exports } = sourceManifest(JSON.parse(read("package.json")) as Manifest);
  const entries = Object.keys(exports).filter((entry) => /^\.\/\w+$/.test(entry));
  expect(entries.length).toBeGreaterThan(10);
  expect(entries.filter((entry) => !readme.includes(`| \`…${entry.slice(1)}\` |`))).toEqual([]);
});

test("the table counts and names every kind", () => {
  const names = [...read("src/kinds/index.ts").matchAll(/^export const (\w+)/gm)].map(([, name]) => name).sort();
  const row = readme.split("\n").find((line) => line.startsWith("| `…/kinds` |")) ?? "";
  const [, count, list = ""] = /\| (\d+) built-in kinds [^:]*: (.*) \|$/.exec(row) ?? [];
  expect(Number(count)).toBe(names.length);
  expect([...list.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(names);
});

test("links lead to files of the packed package", () => {
  const targets = [...readme.matchAll(/\]\(([^()#]+)(?:#[^()]*)?\)/g)].map(([, target = ""]) => target);
  expect(targets.length).toBeGreaterThan(2);
  expect(targets.filter((target) => !/^(?:docs|examples)\//.test(target) || !existsSync(join(FOLDER, target)))).toEqual(
    [],
  );
});
