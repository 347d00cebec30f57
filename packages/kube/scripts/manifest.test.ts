import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Manifest, packedManifest, sourceManifest } from "./manifest.ts";

const FOLDER = join(import.meta.dirname, "..");
const committed = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8")) as Manifest;

test("in the repository every entry is an existing source file", () => {
  const targets = Object.values(committed.exports);
  expect(targets.filter((target) => typeof target !== "string" || !existsSync(join(FOLDER, target)))).toEqual([]);
});

test("in the packed package entries are JavaScript with declarations, and nothing else changes", () => {
  const packed = packedManifest(committed);
  expect(packed.exports["./client"]).toEqual({ types: "./dist/client/index.d.ts", default: "./dist/client/index.js" });
  expect(packed.exports["./package.json"]).toBe("./package.json");
  expect(JSON.stringify(packed.exports)).not.toContain("src/");
  expect({ ...packed, exports: undefined }).toEqual({ ...committed, exports: undefined });
});

test("each form can be derived from the other, any number of times", () => {
  const packed = packedManifest(committed);
  expect(packedManifest(packed)).toEqual(packed);
  expect(sourceManifest(packed)).toEqual(committed);
  expect(sourceManifest(committed)).toEqual(committed);
  expect(JSON.stringify(sourceManifest(packed))).toBe(JSON.stringify(committed));
});
