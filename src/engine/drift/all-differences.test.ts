import fc from "fast-check";
import { expect, test } from "vitest";
import { allDifferences, firstDifference } from "./first-difference.ts";

test("the first of all is the first, and none means none", () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(value, value, (live, wanted) => {
      const [first] = allDifferences("x", live, wanted);
      const found = firstDifference("x", live, wanted);
      if (found === undefined) expect(first).toBeUndefined();
      else expect(first).toEqual(found);
    }),
  );
});

test("every leaf is listed", () => {
  const live = { requests: { cpu: "1", memory: "4Gi" }, list: [1, 2], gone: true };
  const wanted = { requests: { cpu: "2", memory: "8Gi" }, list: [1, 3, 4] };
  expect(
    allDifferences("r", live, wanted).map(({ path, live: is, wanted: should }) => `${path} ${is} ${should}`),
  ).toEqual([
    "r.requests.cpu 1 2",
    "r.requests.memory 4Gi 8Gi",
    "r.list[1] 2 3",
    "r.list[2] unset 4",
    "r.gone true unset",
  ]);
});

test.each(["constructor", "valueOf", "toString"])(
  "a key that every object inherits is a key like any other: %s",
  (key) => {
    expect(firstDifference("labels", {}, { [key]: "x" }, true)).toEqual({
      path: `labels[${key}]`,
      live: "unset",
      wanted: "x",
    });
    expect(firstDifference("labels", { [key]: "x" }, { [key]: "x" }, true)).toBeUndefined();
  },
);
