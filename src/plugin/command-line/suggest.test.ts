import { expect, test } from "vitest";
import { editDistance, nearest } from "./suggest.ts";

test.each([
  ["abc", "abc", 0],
  ["abc", "acb", 1],
  ["abc", "abd", 1],
  ["abc", "ab", 1],
  ["", "abc", 3],
])("%s → %s: %d", (a, b, distance) => expect(editDistance(a, b)).toBe(distance));

test("similar words are suggested, others are not", () => {
  expect(nearest("enigne", ["engine", "instance"])).toBe("engine");
  expect(nearest("inst", ["engine", "instance"])).toBe("instance");
  expect(nearest("x", ["engine"])).toBeUndefined();
  expect(nearest("dance", ["engine", "instance"])).toBeUndefined();
});
