// A folder with many files hides the design: at most thirty in each, tests included. Generated files do not count.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const LIMIT = 30;
const NOT_OURS = new Set([".git", "node_modules", "dist", "coverage"]);
const GENERATED = new Set(["src/api/generated"]);

function filesPerFolder(folder: string): readonly (readonly [string, number])[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true }).filter(({ name }) => !NOT_OURS.has(name));
  const own = [folder, entries.filter((entry) => entry.isFile()).length] as const;
  const below = entries
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => filesPerFolder(join(folder, name)));
  return GENERATED.has(folder) ? below : [own, ...below];
}

test(`no folder has more than ${LIMIT} files`, () => {
  expect(filesPerFolder(".").filter(([, count]) => count > LIMIT)).toEqual([]);
});
