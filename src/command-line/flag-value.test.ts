import { expect, test } from "vitest";
import { type FlagValueType, parseFlagValue } from "./flag-value.ts";

test.each<[FlagValueType, string, string | boolean | number]>([
  ["string", "", ""],
  ["boolean", "True", true],
  ["boolean", "0", false],
  ["integer", "+7", 7],
  ["number", "0.5", 0.5],
  ["duration", "1m30s", 90_000],
])("%s %j", (type, text, value) => {
  expect(parseFlagValue(type, text)).toEqual({ value });
});

test.each<[FlagValueType, string]>([
  ["boolean", "yes"],
  ["integer", "1.5"],
  ["number", " "],
  ["number", "Infinity"],
  ["duration", "5"],
])("%s %j is rejected with the expected form", (type, text) => {
  expect(parseFlagValue(type, text)).toEqual({ problem: expect.stringMatching(/^must be /) });
});
