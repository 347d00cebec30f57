import fc from "fast-check";
import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

const policy = { baseMs: 200, maxMs: 30_000 };

test("doubles from the base up to the maximum", () => {
  const longest = (failures: number): number => backoffMs(policy, failures, () => 1);
  expect([0, 1, 2, 3, 7, 8, 1_000_000].map(longest)).toEqual([200, 400, 800, 1_600, 25_600, 30_000, 30_000]);
});

test("never waits less than half a step and never more than the maximum", () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
      const delayMs = backoffMs(policy, failures, () => random);
      expect(delayMs).toBeGreaterThanOrEqual(policy.baseMs / 2);
      expect(delayMs).toBeLessThanOrEqual(policy.maxMs);
    }),
  );
});

test("jitter spreads clients that failed together", () => {
  expect(backoffMs(policy, 3, () => 0)).toBe(800);
  expect(backoffMs(policy, 3, () => 0.5)).toBe(1_200);
});

test("grows by a custom factor", () => {
  expect(backoffMs({ ...policy, factor: 3 }, 2, () => 1)).toBe(1_800);
});
