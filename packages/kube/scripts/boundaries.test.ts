// Keeps the package a package: it depends on nothing else in the repository, the rest of the repository imports only its
// entries, and its folders stay small.
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

/** The imports of a file, with paths relative to `folder`. */
function importsOf(folder: string, file: string): readonly string[] {
  const source = readFileSync(join(folder, file), "utf8");
  const found = source.matchAll(/^(?:import|export)\b[^;"]* from "([^"]+)";|\bimport\("([^"]+)"\)/gm);
  return [...found].map(([, fixed, late]) => {
    const specifier = fixed ?? late ?? "";
    return specifier.startsWith(".") ? normalize(join(dirname(file), specifier)) : specifier;
  });
}

test("the package imports only itself, Node, and the dependencies of its manifest", () => {
  const foreign = modules
    .filter((file) => !isTest(file))
    .flatMap((file) =>
      importsOf(FOLDER, file)
        .filter((one) => !one.startsWith("src/") && !one.startsWith("node:") && !(one in manifest.dependencies))
        .map((one) => `${file} imports ${one}`),
    );
  expect(foreign).toEqual([]);
});

test("its tests import nothing outside the package", () => {
  const tests = [...modules.filter(isTest), ...globSync("test/**/*.ts", { cwd: FOLDER })];
  const outside = tests.flatMap((file) =>
    importsOf(FOLDER, file)
      .filter((one) => one.startsWith(".."))
      .map((one) => `${file} imports ${one}`),
  );
  expect(tests.length).toBeGreaterThan(60);
  expect(outside).toEqual([]);
});

test("only tests import the test kit", () => {
  const users = modules
    .filter((file) => !isTest(file) && !file.startsWith("src/testing/"))
    .filter((file) => importsOf(FOLDER, file).some((one) => one.startsWith("src/testing/")));
  expect(users).toEqual([]);
});

test("the rest of the repository imports its entries, never its files", () => {
  const files = globSync("{src,dev,test,bench,scripts}/**/*.ts", { cwd: ROOT });
  const intruders = files.flatMap((file) =>
    importsOf(ROOT, file)
      .filter((one) => one.startsWith("packages/kube/src") || one.startsWith("packages/kube/test"))
      .map((one) => `${file} imports ${one}`),
  );
  expect(files.length).toBeGreaterThan(800);
  expect(intruders).toEqual([]);
});

test("it does not mention the product", () => {
  const mentions = globSync("{src,test,examples}/**/*.{ts,sh}", { cwd: FOLDER }).filter((file) =>
    /firebolt/i.test(readFileSync(join(FOLDER, file), "utf8").replaceAll(manifest.name, "")),
  );
  expect(mentions).toEqual([]);
});

test("no folder has more than 30 files", () => {
  const folders = Map.groupBy(globSync("{src,test,scripts}/**/*.*", { cwd: FOLDER }), (file) => dirname(file));
  expect([...folders].filter(([, files]) => files.length > 30).map(([name]) => basename(name))).toEqual([]);
});
