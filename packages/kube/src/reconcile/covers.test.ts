import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CoverRules, covers } from "./covers.ts";

const SUBSET: CoverRules = { keyedLists: new Map(), otherLists: "subset", emptyIsAbsent: true };

describe("by default", () => {
  test.each([
    { name: "an equal object", live: { a: 1 }, wanted: { a: 1 }, want: true },
    { name: "a field of another writer", live: { a: 1, b: 2 }, wanted: { a: 1 }, want: true },
    { name: "another value", live: { a: 2 }, wanted: { a: 1 }, want: false },
    { name: "a missing field", live: {}, wanted: { a: 1 }, want: false },
    { name: "an undefined field that was not rendered", live: {}, wanted: { a: undefined }, want: true },
    { name: "a nested change", live: { a: { b: 2 } }, wanted: { a: { b: 1 } }, want: false },
    { name: "a missing object", live: {}, wanted: { emptyDir: {} }, want: false },
    { name: "a longer list", live: { args: ["a", "b"] }, wanted: { args: ["a"] }, want: false },
    { name: "a reordered list", live: { args: ["b", "a"] }, wanted: { args: ["a", "b"] }, want: false },
    {
      name: "another container beside ours, in another order",
      live: { containers: [{ name: "sidecar" }, { name: "main", image: "i" }] },
      wanted: { containers: [{ name: "main", image: "i" }] },
      want: true,
    },
    {
      name: "another image of our container",
      live: { containers: [{ name: "main", image: "j" }] },
      wanted: { containers: [{ name: "main", image: "i" }] },
      want: false,
    },
    {
      name: "ports by number and protocol",
      live: {
        ports: [
          { port: 80, protocol: "UDP" },
          { port: 80, protocol: "TCP", targetPort: 1 },
        ],
      },
      wanted: { ports: [{ port: 80, protocol: "TCP", targetPort: 1 }] },
      want: true,
    },
  ])("$name: $want", ({ live, wanted, want }) => expect(covers({ live, wanted })).toBe(want));

  test("only rendered fields are compared, in their normal form", () => {
    const rendered = { cpu: "1000m" };
    expect(covers({ live: { cpu: 1, memory: 2 }, wanted: { cpu: 1, memory: 3 }, rendered })).toBe(true);
    expect(covers({ live: { cpu: 2, memory: 3 }, wanted: { cpu: 1, memory: 3 }, rendered })).toBe(false);
  });
});

describe("as subsets without empty values", () => {
  test.each([
    {
      name: "a list with more entries, in another order",
      live: { l: ["c", "b", "a"] },
      wanted: { l: ["a", "b"] },
      want: true,
    },
    { name: "a list without an entry", live: { l: ["a"] }, wanted: { l: ["a", "b"] }, want: false },
    { name: "false and absent", live: {}, wanted: { a: false, b: "", c: 0 }, want: true },
    { name: "true for false", live: { a: true }, wanted: { a: false }, want: false },
    { name: "an empty object and any object", live: { a: { b: 1 } }, wanted: { a: {} }, want: true },
    { name: "null, undefined and anything", live: { a: 1, b: 1 }, wanted: { a: null, b: undefined }, want: true },
  ])("$name: $want", ({ live, wanted, want }) => expect(covers({ live, wanted }, SUBSET)).toBe(want));
});

test.each([
  { name: "the default rules", rules: {} },
  { name: "subset rules", rules: SUBSET },
])("with $name every object covers itself, also with further fields", ({ rules }) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(covers({ live: value, wanted: value }, rules)).toBe(true);
      expect(covers({ live: { inner: value, more: 1 }, wanted: { inner: value } }, rules)).toBe(true);
    }),
  );
});
