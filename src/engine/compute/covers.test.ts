import { expect, test } from "vitest";
import { covers } from "./covers.ts";

test.each([
  ["equal", { a: 1, b: ["x"] }, { a: 1, b: ["x"] }],
  ["what others added", { a: 1, extra: true, list: [{ n: 1, more: 2 }, { n: 2 }] }, { a: 1, list: [{ n: 1 }] }],
  ["false is not stored", {}, { publishNotReadyAddresses: false }],
  ["empty asks for nothing", { data: { k: "v" } }, { data: {} }],
  ["undefined asks for nothing", { a: 1 }, { b: undefined }],
] as const)("covered: %s", (_, live, wanted) => {
  expect(covers(live, wanted)).toBe(true);
});

test.each([
  ["another value", { a: 2 }, { a: 1 }],
  ["a missing field", {}, { a: 1 }],
  ["a missing entry", { list: [{ n: 1 }] }, { list: [{ n: 1 }, { n: 2 }] }],
  ["true where false is wanted", { p: true }, { p: false }],
  ["another shape", { a: [1] }, { a: { b: 1 } }],
  ["nothing at all", undefined, { a: 1 }],
] as const)("not covered: %s", (_, live, wanted) => {
  expect(covers(live, wanted)).toBe(false);
});
