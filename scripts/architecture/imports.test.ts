// architecture.json holds for every import of the repository, types included, and no module imports itself in a circle.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findCycles, importsOf, readImports } from "./import-graph.ts";
import { createRules, readRules } from "./rules.ts";

const ROOT = join(import.meta.dirname, "../..");
const rules = readRules(ROOT);
const imports = readImports(ROOT);

test("every import follows architecture.json", () => {
  const violations = imports.flatMap(({ from, specifier, to, value }) => {
    const rule = rules.violation(from, to, value ? "value" : "type");
    return rule === undefined ? [] : [`${from} imports "${specifier}": ${rule}`];
  });
  expect(violations).toEqual([]);
});

test("no cycle of value imports", () => {
  expect(findCycles(imports.filter(({ value }) => value))).toEqual([]);
});

test("the rules have no cycle between top folders", () => {
  const top = (folder: string) => folder.split("/").slice(0, 2).join("/");
  const edges = rules.folders.flatMap((from) => rules.importsOf(from).map((to) => ({ from: top(from), to: top(to) })));
  expect(findCycles(edges.filter(({ from, to }) => from !== to))).toEqual([]);
});

test("every rule names folders and entries of packages that exist", () => {
  const named = rules.folders.flatMap((folder) => [folder, ...rules.importsOf(folder), ...rules.typesOf(folder)]);
  const missing = [...new Set(named)].filter((name) => !existsSync(join(ROOT, name)) && !isPackageEntry(name));
  expect(missing).toEqual([]);
});

function isPackageEntry(name: string): boolean {
  const [, folder = "", entry] = /^(packages\/\w+)\/(\w+)$/.exec(name) ?? [];
  if (entry === undefined) return false;
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
  return typeof manifest === "object" && JSON.stringify(manifest).includes(`"./${entry}":`);
}

test("types, re-exports and dynamic imports count", () => {
  const source = `
    import type { A } from "./a.ts";
    import { type B, c } from "../b.ts";
    export { d } from "./d.ts";
    import "./side-effect.ts";
    import { join } from "node:path";
    const e = await import("@firebolt-operator/kube/client");
  `;
  const found = importsOf("src/engine/example.ts", source).map(({ to, value }) => [to, value]);
  expect(Object.fromEntries(found)).toEqual({
    "src/engine/a.ts": false,
    "src/b.ts": true,
    "src/engine/d.ts": true,
    "src/engine/side-effect.ts": true,
    "packages/kube/client": true,
  });
});

test("a violation names both folders and what is allowed", () => {
  const { violation } = createRules({
    sets: { LOW: "src/api" },
    folders: {
      "src/api": "",
      "src/engine": "LOW src/engine/*",
      "src/engine/compute": "src/api",
      "src/instance": "LOW type:src/engine",
      test: "src/*",
    },
    tests: { src: "test" },
  });
  expect(violation("src/engine/pass/a.ts", "src/api/b.ts")).toBeUndefined();
  expect(violation("src/engine/pass/a.ts", "src/engine/compute/b.ts")).toBeUndefined();
  expect(violation("src/engine/a.ts", "src/instance/b.ts")).toBe(
    "src/engine may import src/api, src/engine/compute, but not src/instance",
  );
  expect(violation("src/engine/compute/a.ts", "src/engine/pass/b.ts")).toBe(
    "src/engine/compute may import src/api, but not src/engine",
  );
  expect(violation("src/instance/a.ts", "src/engine/b.ts", "type")).toBeUndefined();
  expect(violation("src/instance/a.ts", "src/engine/b.ts", "value")).toBe(
    "src/instance may import src/api, type:src/engine, but not src/engine",
  );
  expect(violation("src/engine/a.test.ts", "test/b.ts")).toBeUndefined();
  expect(violation("src/engine/a.ts", "test/b.ts")).toBe(
    "src/engine may import src/api, src/engine/compute, but not test",
  );
  expect(violation("src/new/a.ts", "src/api/b.ts")).toBe(
    "architecture.json has no entry for the folder of src/new/a.ts",
  );
});

test("a cycle is found and shown in order", () => {
  const edge = (from: string, to: string) => ({ from, to });
  expect(findCycles([edge("a", "b"), edge("b", "c"), edge("c", "b"), edge("c", "d")])).toEqual([["b", "c", "b"]]);
});
