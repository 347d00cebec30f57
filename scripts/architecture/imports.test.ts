// architecture.json holds for every import of the repository, types included, and no module imports itself in a circle.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { computedImportsOf, findCycles, importsOf, isSource, readImports, sourceFiles } from "./import-graph.ts";
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

test("every source file is in a folder with an entry, even if it imports nothing", () => {
  expect(sourceFiles(ROOT).filter((file) => rules.folderOf(file) === undefined)).toEqual([]);
});

test("the path of an import() is a literal, so that it can be checked", () => {
  const computed = sourceFiles(ROOT).flatMap((file) =>
    computedImportsOf(file, readFileSync(join(ROOT, file), "utf8")).map(() => file),
  );
  // An entry of the same package, a benchmark of the same folder, and a file that the test itself writes.
  expect(computed).toEqual(["packages/kube/scripts/api-page.test.ts", "bench/run.ts", "scripts/generate/lua.test.ts"]);
});

test("architecture.json allows nothing that no import needs", () => {
  expect(rules.unused(imports)).toEqual([]);
});

test("no cycle of value imports", () => {
  expect(findCycles(imports.filter(({ value }) => value))).toEqual([]);
});

test("the rules have no cycle between top folders, nor between any two entries", () => {
  const edges = rules.folders.flatMap((from) => rules.importsOf(from).map((to) => ({ from, to })));
  const top = (folder: string) => folder.split("/").slice(0, 2).join("/");
  const tops = edges.map(({ from, to }) => ({ from: top(from), to: top(to) })).filter(({ from, to }) => from !== to);
  expect(findCycles(tops)).toEqual([]);
  expect(findCycles(edges)).toEqual([]);
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

test.each([
  ["double quotes", 'void import("./a.ts");', true],
  ["single quotes", "void import('./a.ts');", true],
  ["backticks", "void import(`./a.ts`);", true],
  ["a type", 'let a: import("./a.ts").A;', false],
  ["the type of a module", 'type A = typeof import("./a.ts");', false],
  ["require", 'import a = require("./a.ts");', true],
])("an import in the form of %s counts", (_, source, value) => {
  expect(importsOf("src/b.cts", source)).toEqual([{ from: "src/b.cts", specifier: "./a.ts", to: "src/a.ts", value }]);
});

test.each(["await import(path);", "await import(`./$" + "{name}.ts`);", 'await import("./" + name);'])(
  "%s is found as one that cannot be checked",
  (source) => {
    expect(importsOf("src/b.ts", source)).toEqual([]);
    expect(computedImportsOf("src/b.ts", source)).toHaveLength(1);
  },
);

test("sources are TypeScript and JavaScript in every form", () => {
  const names = ["a.ts", "a.mts", "a.cts", "a.tsx", "a.js", "a.mjs", "a.cjs", "a.jsx"];
  expect(names.filter((name) => !isSource(`src/${name}`))).toEqual([]);
  expect(["a.json", "a.d.ts.map", "dist/a.js", "node_modules/a.js"].filter((name) => isSource(`src/${name}`))).toEqual(
    [],
  );
});

test("a violation names both folders and what is allowed", () => {
  const { violation } = createRules({
    open: "",
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
  expect(violation("src/api/a.ts", "src/engine/b.ts")).toBe("src/api may import no other folder, so not src/engine");
  expect(violation("src/new/a.ts", "src/api/b.ts")).toBe(
    "architecture.json has no entry for the folder of src/new/a.ts",
  );
});

test("a permission that nothing uses is reported, and so is one of code that only types need", () => {
  const { unused } = createRules({
    open: "ALL",
    sets: { ALL: "src/*" },
    folders: { "src/api": "", "src/pods": "", "src/engine": "src/api src/pods", test: "ALL" },
    tests: { src: "test" },
  });
  const edge = (from: string, to: string, value = true) => ({ from, to, value });
  const all = [
    edge("src/engine/a.ts", "src/api/b.ts"),
    edge("src/engine/a.ts", "src/pods/b.ts"),
    edge("src/engine/a.test.ts", "test/c.ts"),
    edge("test/a.ts", "src/api/b.ts"),
  ];
  expect(unused(all)).toEqual([]);
  const pods = "src/engine may import src/pods, and does not";
  expect(unused(all.with(1, edge("src/engine/a.ts", "src/pods/b.ts", false)))).toEqual([pods]);
  expect(unused(all.with(1, edge("src/engine/a.test.ts", "src/pods/b.ts")))).toEqual([pods]);
  expect(unused(all.slice(0, 2))).toEqual([
    "test may import ALL, and does not",
    "tests of src may import test, and does not",
  ]);
});

test("a cycle is found and shown in order", () => {
  const edge = (from: string, to: string) => ({ from, to });
  expect(findCycles([edge("a", "b"), edge("b", "c"), edge("c", "b"), edge("c", "d")])).toEqual([["b", "c", "b"]]);
});
