import { expect, test } from "vitest";
import { meanParts, partsOf, podStartOf, totalOf, type Way } from "./parts.ts";

const WAY: Way = { beganMs: 1_000, observed: { statefulSet: 1_040, pod: 1_060, ready: 2_260, answered: 2_400 } };

test("parts follow the order of the moments and add up to the whole", () => {
  expect(partsOf(WAY)).toEqual([
    { moment: "statefulSet", ms: 40 },
    { moment: "pod", ms: 20 },
    { moment: "ready", ms: 1_200 },
    { moment: "answered", ms: 140 },
  ]);
  expect(totalOf(WAY)).toBe(1_400);
  expect(podStartOf(WAY)).toBe(1_200);
});

test("a moment that is observed too early takes no time, and the whole stays the whole", () => {
  const way: Way = { beganMs: 0, observed: { statefulSet: 50, pod: 45, answered: 80 } };
  expect(partsOf(way).map(({ ms }) => ms)).toEqual([50, 0, 30]);
  expect(totalOf(way)).toBe(80);
});

test("means add up to the mean of the whole", () => {
  const other: Way = { beganMs: 0, observed: { statefulSet: 100, pod: 100, ready: 900, answered: 1_000 } };
  const mean = meanParts([WAY, other]).reduce((sum, { ms }) => sum + ms, 0);
  expect(mean).toBe((totalOf(WAY) + totalOf(other)) / 2);
});

test("a way without its pod has no start of it", () => {
  expect(() => podStartOf({ beganMs: 0, observed: { ready: 1 } })).toThrow("not observed");
});
