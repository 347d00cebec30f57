import { expect, test } from "vitest";
import { spreadMs } from "./spread.ts";

const keys = Array.from({ length: 5_000 }, (_, i) => `analytics/engine-${i}`);

test("long delays of many keys are spread evenly over a fifth of the delay", () => {
  const delays = keys.map((key) => spreadMs(key, 240_000));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(216_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(264_000);
  const perSecond = new Map<number, number>();
  for (const delayMs of delays) {
    const second = Math.floor(delayMs / 1_000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  // 104 on average; all 5,000 in one second without the spread.
  expect(Math.max(...perSecond.values())).toBeLessThan(160);
});

test("the offset of a key is stable", () => {
  const again = keys.map((key) => spreadMs(key, 240_000));
  expect(keys.map((key) => spreadMs(key, 240_000))).toEqual(again);
});

test.each([0, 1, 1_000, 30_000, 59_999])("a delay of %i ms is not spread", (delayMs) => {
  for (const key of keys.slice(0, 100)) expect(spreadMs(key, delayMs)).toBe(delayMs);
});
