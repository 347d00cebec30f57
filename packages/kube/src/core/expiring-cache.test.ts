import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { ExpiringCache } from "./expiring-cache.ts";

test("a value is kept for exactly its lifetime", async () => {
  const clock = new ManualClock();
  const cache = new ExpiringCache<string>(clock, 10);
  cache.set("a", "x", 1_000);
  await clock.advance(999);
  expect(cache.get("a")).toBe("x");
  await clock.advance(1);
  expect(cache.get("a")).toBeUndefined();
  expect(cache.size).toBe(0);
});

test("a full cache evicts expired entries first, then the oldest", async () => {
  const clock = new ManualClock();
  const cache = new ExpiringCache<number>(clock, 3);
  cache.set("old", 1, 60_000);
  cache.set("short", 2, 1_000);
  cache.set("new", 3, 60_000);
  await clock.advance(1_000);
  cache.set("fourth", 4, 60_000);
  expect([cache.get("old"), cache.get("short"), cache.get("new"), cache.get("fourth")]).toEqual([1, undefined, 3, 4]);
  cache.set("old", 1, 60_000);
  cache.set("fifth", 5, 60_000);
  expect([cache.get("old"), cache.get("new"), cache.get("fourth"), cache.get("fifth")]).toEqual([1, undefined, 4, 5]);
  for (let i = 0; i < 1_000; i++) cache.set(`flood ${i}`, i, 60_000);
  expect(cache.size).toBe(3);
});
