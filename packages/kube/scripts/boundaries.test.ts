// What makes this a package: it needs nothing of the repository around it, others reach it through its entries alone, and its folders stay
// small enough to be read.
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "..");
const ROOT = join(FOLDER, "../..");
const manifest = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8")) as {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
};
const modules = globSync("src/**/*.ts", { cwd: FOLDER });
const isTest = (file: string): boolean => file.endsWith(".test.ts");

/** What a file imports, paths from `folder`. */
function importsOf(folder: string, file: string): readonly string[] {
  const source = readFileSync(join(folder, file), "utf8");
  const found = source.matchAll(/^(?:import|export)\b[^;"]* from "([^"]+)";|\bimport\("([^"]+)"\)/gm);
  return [...found].map(([, fixed, late]) => {
    const specifier = fixed ?? late ?? "";
    return specifier.startsWith(".") ? normalize(join(dirname(file), specifier)) : specifier;
  });
}

test("the package imports itself, Node, and what its manifest names", () => {
  const strangers = modules
    .filter((file) => !isTest(file))
    .flatMap((file) =>
      importsOf(FOLDER, file)
        .filter((one) => !one.startsWith("src/") && !one.startsWith("node:") && !(one in manifest.dependencies))
        .map((one) => `${file} imports ${one}`),
    );
  expect(strangers).toEqual([]);
});

test("its tests need nothing of the product", () => {
  const tests = [...modules.filter(isTest), ...globSync("test/**/*.ts", { cwd: FOLDER })];
  const outside = tests.flatMap((file) =>
    importsOf(FOLDER, file)
      .filter((one) => one.startsWith(".."))
      .map((one) => `${file} imports ${one}`),
  );
  expect(tests.length).toBeGreaterThan(60);
  expect(outside).toEqual([]);
});

test("the test kit is for tests: no other part imports it", () => {
  const users = modules
    .filter((file) => !isTest(file) && !file.startsWith("src/testing/"))
    .filter((file) => importsOf(FOLDER, file).some((one) => one.startsWith("src/testing/")));
  expect(users).toEqual([]);
});

test("others import its entries, never its files", () => {
  const files = globSync("{src,dev,test,bench,scripts}/**/*.ts", { cwd: ROOT });
  const intruders = files.flatMap((file) =>
    importsOf(ROOT, file)
      .filter((one) => one.startsWith("packages/kube/src") || one.startsWith("packages/kube/test"))
      .map((one) => `${file} imports ${one}`),
  );
  expect(files.length).toBeGreaterThan(800);
  expect(intruders).toEqual([]);
});

test("it knows nothing of the product that it was made for", () => {
  const told = globSync("{src,test,examples}/**/*.{ts,sh}", { cwd: FOLDER }).filter((file) =>
    /firebolt/i.test(readFileSync(join(FOLDER, file), "utf8").replaceAll(manifest.name, "")),
  );
  expect(told).toEqual([]);
});

test("no folder has more than 30 files", () => {
  const folders = Map.groupBy(globSync("{src,test,scripts}/**/*.*", { cwd: FOLDER }), (file) => dirname(file));
  expect([...folders].filter(([, files]) => files.length > 30).map(([name]) => basename(name))).toEqual([]);
});
