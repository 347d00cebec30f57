import { expect, test } from "vitest";
import { makeUlid } from "./ulid.ts";

const bytes = (fill: number) => new Uint8Array(10).fill(fill);

test("an id has 26 characters of Crockford's alphabet", () => {
  expect(makeUlid(Date.UTC(2026, 0, 1), bytes(0xa5))).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
});

test("the known example of the format", () => {
  expect(makeUlid(1469918176385, bytes(0)).slice(0, 10)).toBe("01ARYZ6S41");
});

test("the bounds of both halves", () => {
  expect(makeUlid(0, bytes(0))).toBe("0".repeat(26));
  expect(makeUlid(2 ** 48 - 1, bytes(0xff))).toBe(`7ZZZZZZZZZ${"Z".repeat(16)}`);
});

test("a later id sorts behind an earlier one", () => {
  expect(makeUlid(1_000, bytes(0xff)) < makeUlid(1_001, bytes(0))).toBe(true);
});

test("too little randomness is a defect", () => {
  expect(() => makeUlid(0, new Uint8Array(9))).toThrow(RangeError);
});
