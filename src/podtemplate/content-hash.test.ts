import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { canonicalJson, contentHash, jsonHash } from "./content-hash.ts";

test("lower-case hex SHA-256 of the UTF-8 string, first 16 characters", () => {
  expect(contentHash("äb")).toBe(createHash("sha256").update(Buffer.from("äb", "utf8")).digest("hex").slice(0, 16));
  expect(contentHash("")).toBe("e3b0c44298fc1c14");
});

test("canonical JSON sorts keys at every level and has no whitespace", () => {
  expect(canonicalJson({ b: [1, { d: null, c: "x" }], a: true, gone: undefined })).toBe(
    '{"a":true,"b":[1,{"c":"x","d":null}]}',
  );
});

test("the order of keys does not matter, the order of items does", () => {
  expect(jsonHash({ a: 1, b: 2 })).toBe(jsonHash({ b: 2, a: 1 }));
  expect(jsonHash([1, 2])).not.toBe(jsonHash([2, 1]));
});
