// An operator is assembled in create-operator.ts and nowhere else: tests and benchmarks run what the program runs.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
/** They use a single part: a manager around the webhooks, and a controller without a cluster for its triggers. */
const PARTS_ALONE = ["webhooks.test.ts", "trigger-feed.ts"];
const ASSEMBLING = /(?<!function )\b(?:createManager|engineController|instanceController|engineClassController)\(/;

test("only src/operator creates the manager and the controllers", () => {
  const files = globSync("{src,test,bench,dev}/**/*.ts", { cwd: ROOT });
  const assembling = files.filter((file) => ASSEMBLING.test(readFileSync(join(ROOT, file), "utf8")));
  expect(assembling.filter((file) => !PARTS_ALONE.some((name) => file.endsWith(`/${name}`))).sort()).toEqual([
    "src/operator/controllers.ts",
    "src/operator/create-operator.ts",
  ]);
});
