// Every test file runs in exactly one lane, whatever the order of the input, and no lane has much more to do than another.
import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { dealOut, SECONDS } from "./lane-sequencer.ts";

const ROOT = join(import.meta.dirname, "../../..");
const file = fc.record({
  // Names that every object has are names like any other.
  path: fc.oneof(fc.constantFrom(...Object.keys(SECONDS), "toString", "constructor", "__proto__"), fc.string()),
  project: fc.constantFrom("unit", "integration", "e2e"),
});
const files = fc.uniqueArray(file, { selector: ({ path }) => path });

test("every file is in one lane, and the order of the input does not matter", () => {
  fc.assert(
    fc.property(files, fc.integer({ min: 1, max: 4 }), (all, lanes) => {
      const dealt = dealOut(all, lanes);
      expect(dealt).toHaveLength(lanes);
      expect(dealt.flat().toSorted(byPath)).toEqual(all.toSorted(byPath));
      expect(dealOut(all.toReversed(), lanes)).toEqual(dealt);
    }),
  );
});

test("long files are spread over the lanes", () => {
  const long = Object.keys(SECONDS).map((path) => ({ path, project: "integration" }));
  const totals = dealOut(long, 2).map((lane) => lane.reduce((sum, { path }) => sum + (SECONDS[path] ?? 0), 0));
  const longest = Math.max(...Object.values(SECONDS));
  expect(Math.abs((totals[0] ?? 0) - (totals[1] ?? 0))).toBeLessThanOrEqual(longest);
});

test.each(Object.keys(SECONDS))("%s exists", (path) => {
  expect(existsSync(join(ROOT, path))).toBe(true);
});

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : 1;
}
