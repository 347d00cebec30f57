import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { configText } from "./config-text.ts";

test("the string is JSON and YAML of either version, and means the same", { timeout: 30_000 }, () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), (document) => {
      // Numbers have no negative zero there.
      const plain = JSON.parse(JSON.stringify(document));
      const text = configText(plain);
      expect(JSON.parse(text)).toEqual(plain);
      if (!Object.hasOwn(plain, "__proto__")) {
        expect(parse(text, { version: "1.2", uniqueKeys: false })).toEqual(plain);
        expect(parse(text, { version: "1.1", uniqueKeys: false })).toEqual(plain);
      }
    }),
  );
});

test.each(["no", "1e3", "0x10", "null", "~", "2026-01-01", "\u0085\u2028", "a: b", "'", "\ufeff"])(
  "the string %j stays a string",
  (value) => {
    const text = configText({ value });
    expect(parse(text, { version: "1.1" })).toEqual({ value });
    expect(parse(text, { version: "1.2" })).toEqual({ value });
  },
);

test.each([1e-7, 1e21, 5e-324, 1.5e300, 1000])("the number %d stays a number", (value) => {
  expect(parse(configText({ value }), { version: "1.1" })).toEqual({ value });
});

test("keys keep their order", () => {
  expect(configText({ b: 1, a: [], c: {} })).toBe('{\n  "b": 1,\n  "a": [],\n  "c": {}\n}\n');
});
