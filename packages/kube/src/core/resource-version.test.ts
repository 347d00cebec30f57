import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareVersions, isNewer, isNotNewer, isOlder } from "./resource-version.ts";

describe("resource versions", () => {
  test.each([
    { left: "9", right: "10", want: -1 },
    { left: "10", right: "9", want: 1 },
    { left: "7", right: "7", want: 0 },
    { left: "0", right: "1", want: -1 },
    { left: "18446744073709551615", right: "18446744073709551616", want: -1 },
    { left: "abc", right: "abc", want: 0 },
  ])("$left against $right", ({ left, right, want }) => {
    expect(Math.sign(compareVersions(left, right) ?? Number.NaN)).toBe(want);
  });

  test.each(["", "abc", "1a", "-1", "01", "1.5", " 1"])(
    "%j cannot be ordered, and nothing is concluded from it",
    (odd) => {
      expect(compareVersions(odd, "5")).toBeUndefined();
      expect([isOlder(odd, "5"), isNewer(odd, "5"), isNotNewer(odd, "5")]).toEqual([false, false, false]);
    },
  );

  test("numbers of any length are ordered as numbers", () => {
    const version = fc.bigInt({ min: 0n, max: 2n ** 100n });
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(isOlder(String(a), String(b))).toBe(a < b);
        expect(isNotNewer(String(a), String(b))).toBe(a <= b);
      }),
    );
  });
});
