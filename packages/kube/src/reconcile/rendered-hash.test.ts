import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, jsonHash } from "./json-hash.ts";
import { hasSameRenderedHash, isUntouchedRendering, withRenderedHash } from "./rendered-hash.ts";

const HASH = "example.com/rendered-hash";
const object = { metadata: { annotations: { a: "1" } }, spec: { replicas: 2 } };
const rendered = withRenderedHash(object, HASH);

test("canonical JSON is JSON with sorted keys, without undefined fields", () => {
  expect(canonicalJson({ b: [1, null, { z: undefined, y: "x" }], a: undefined })).toBe('{"b":[1,null,{"y":"x"}]}');
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // JSON has no negative zero.
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("the hash depends on the content, not on the order of keys", () => {
  expect(jsonHash({ a: 1, b: 2 })).toBe(jsonHash({ b: 2, a: 1 }));
  expect(jsonHash({ a: 1 })).not.toBe(jsonHash({ a: 2 }));
  expect(jsonHash({})).toBe("44136fa355b3678a");
});

test("the hash is added to the other annotations, and the original is not modified", () => {
  expect(rendered).toEqual({ ...object, metadata: { annotations: { a: "1", [HASH]: jsonHash(object) } } });
  expect(object.metadata.annotations).toEqual({ a: "1" });
  expect(withRenderedHash({}, HASH, "given")).toEqual({ metadata: { annotations: { [HASH]: "given" } } });
});

test.each([
  {
    name: "as created",
    live: { ...rendered, metadata: { ...rendered.metadata, generation: 1 } },
    same: true,
    is: true,
  },
  {
    name: "changed since",
    live: { ...rendered, metadata: { ...rendered.metadata, generation: 2 } },
    same: true,
    is: false,
  },
  { name: "another rendering", live: withRenderedHash({ ...object, spec: {} }, HASH), same: false, is: false },
  { name: "without a hash", live: object, same: false, is: false },
])("$name", ({ live, same, is }) => {
  expect(hasSameRenderedHash(live, rendered, HASH)).toBe(same);
  expect(isUntouchedRendering(live, rendered, HASH)).toBe(is);
});

test("two objects without a hash are not an untouched rendering", () => {
  const live = { metadata: { generation: 1 } };
  expect(isUntouchedRendering(live, {}, HASH)).toBe(false);
});
