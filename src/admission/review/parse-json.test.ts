// Depth is counted outside strings only, as the parser nests.
import fc from "fast-check";
import { expect, test } from "vitest";
import { InvalidJsonError, MAX_DEPTH, parseJson } from "./parse-json.ts";

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

test("the limit is exact", () => {
  expect(() => parseJson(nested(MAX_DEPTH))).not.toThrow();
  expect(() => parseJson(nested(MAX_DEPTH + 1))).toThrow(InvalidJsonError);
  expect(() => parseJson('{"a":'.repeat(1_000_000))).toThrow(/nested more than/);
});

test("brackets in strings do not count, whatever is escaped around them", () => {
  const text = JSON.stringify({ a: `\\"${"[{".repeat(MAX_DEPTH)}\\` });
  expect(parseJson(text)).toEqual({ a: `\\"${"[{".repeat(MAX_DEPTH)}\\` });
});

test("every JSON value is returned unchanged", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.stringify(parseJson(JSON.stringify(value)))).toBe(JSON.stringify(value));
    }),
  );
});

test.each(["", "{", '{"a":1', "nul", "[1,]", '{"a":1}}', "\u0000"])("%j is not JSON", (text) => {
  expect(() => parseJson(text)).toThrow(InvalidJsonError);
});
