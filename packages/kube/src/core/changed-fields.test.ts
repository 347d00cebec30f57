import { expect, test } from "vitest";
import { changedFields } from "./changed-fields.ts";

test("contains only what differs, and null for removed fields", () => {
  const stored = { phase: "a", count: 1, list: [{ x: 1 }], old: true };
  expect(changedFields(stored, { phase: "a", count: 2, list: [{ x: 1 }, { x: 2 }] })).toEqual({
    count: 2,
    list: [{ x: 1 }, { x: 2 }],
    old: null,
  });
  expect(changedFields(stored, structuredClone(stored))).toEqual({});
  expect(changedFields(undefined, { phase: "a" })).toEqual({ phase: "a" });
});

test("removes fields of nested objects", () => {
  const stored = { held: { field: "a", until: "12:00", attempts: 1 }, same: { a: 1 } };
  expect(changedFields(stored, { held: { field: "a", attempts: 2 }, same: { a: 1 } })).toEqual({
    held: { attempts: 2, until: null },
  });
});
