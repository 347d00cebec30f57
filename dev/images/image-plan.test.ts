import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ImagePlan, inputKey } from "./image-plan.ts";

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "image-plan-"));
  file = join(folder, "program");
  writeFileSync(file, "one");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plan = (change: Partial<ImagePlan> = {}): ImagePlan => ({
  version: "1",
  machineFiles: [file],
  contents: [Buffer.from("a"), Buffer.from("b")],
  compose: () => {
    throw new Error("not requested");
  },
  ...change,
});

test("equal inputs give equal keys, without anything being made", () => {
  expect(inputKey(plan(), [])).toBe(inputKey(plan(), []));
});

test.each([
  { name: "the version", change: { version: "2" } },
  { name: "a content", change: { contents: [Buffer.from("a"), Buffer.from("c")] } },
  { name: "where one content ends", change: { contents: [Buffer.from("ab")] } },
  { name: "the files", change: { machineFiles: [] } },
])("$name decides", ({ change }) => {
  expect(inputKey(plan(change), [])).not.toBe(inputKey(plan(), []));
});

test("the code that makes images decides, and so does a file that changed", () => {
  const before = inputKey(plan(), []);
  expect(inputKey(plan(), [Buffer.from("code")])).not.toBe(before);
  writeFileSync(file, "two");
  expect(inputKey(plan(), [])).not.toBe(before);
});

test("a file that is missing is an error that names it", () => {
  expect(() => inputKey(plan({ machineFiles: ["/nowhere/envoy"] }), [])).toThrow("/nowhere/envoy");
});
