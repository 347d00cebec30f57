import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../podtemplate/shapes/shape.ts";
import { isObject } from "../../podtemplate/shapes/shape.ts";
import { changedPaths } from "./changed-paths.ts";
import { parseManifests } from "./manifest-file.ts";
import { sameJson, threeWayPatch } from "./three-way.ts";

/** RFC 7386, as the API server does it. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.array(fc.integer(), { maxLength: 3 }));
const document: fc.Arbitrary<JsonObject> = fc.letrec<{ node: JsonObject }>((tie) => ({
  node: fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.oneof({ maxDepth: 3 }, leaf, tie("node"))),
})).node;

describe("the patch of kubectl apply", () => {
  test("after it the cluster has every field of the file, and none that only an earlier file had", () => {
    fc.assert(
      fc.property(document, document, document, (before, wanted, added) => {
        const live = mergePatch(before, added);
        if (!isObject(live)) return;
        const result = mergePatch(live, threeWayPatch({ before, wanted, live }));
        expect(covers(result, wanted)).toBe(true);
        for (const key of Object.keys(before)) if (!(key in wanted)) expect(result).not.toHaveProperty(key);
      }),
    );
  });

  test("without a change there is no patch", () => {
    fc.assert(
      fc.property(document, (one) => {
        expect(threeWayPatch({ before: one, wanted: one, live: one })).toEqual({});
      }),
    );
  });

  test("fields of other managers are kept", () => {
    expect(threeWayPatch({ before: undefined, wanted: { a: 1 }, live: { a: 1, b: 2 } })).toEqual({});
    expect(threeWayPatch({ before: { a: 1, b: 2 }, wanted: { a: 1 }, live: { a: 1, b: 2 } })).toEqual({ b: null });
  });
});

function covers(is: unknown, wanted: unknown): boolean {
  if (!isObject(wanted)) return sameJson(is, wanted);
  return isObject(is) && Object.entries(wanted).every(([key, value]) => covers(is[key], value));
}

test("changed paths name leaves, also of added and removed sections", () => {
  expect(changedPaths({ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, "x")).toEqual(["x.a.c"]);
  expect(changedPaths({}, { a: { b: { c: 1 } } }, "x")).toEqual(["x.a.b.c"]);
  expect(changedPaths({ a: { b: 1 } }, {}, "x")).toEqual(["x.a.b"]);
  expect(changedPaths({ a: 1 }, { a: { b: 1 } }, "x")).toEqual(["x.a"]);
  expect(changedPaths({ a: 1 }, { a: 1 }, "x")).toEqual([]);
});

describe("manifest files", () => {
  test("several documents, lists, empty ones", () => {
    const text =
      "---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: B, metadata: {name: b}}\n";
    expect(parseManifests(text, "f").map(({ kind }) => kind)).toEqual(["A", "B"]);
  });

  test.each([
    ["kind: A", "f: an object needs apiVersion, kind and metadata.name"],
    ["a: [", "f is not YAML: "],
    ["just text", "f: an object needs"],
  ])("%s", (text, message) => expect(() => parseManifests(text, "f")).toThrow(message));
});
