// The client-side rate limit.
import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { TokenBucket } from "./token-bucket.ts";

test("a burst is sent at once, then requests are spaced, in order", () => {
  const bucket = new TokenBucket({ clock: new ManualClock(), qps: 10, burst: 3 });
  expect(Array.from({ length: 6 }, () => Math.round(bucket.reserve()))).toEqual([0, 0, 0, 100, 200, 300]);
});

test("an idle period refills up to the burst", async () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ clock, qps: 10, burst: 2 });
  bucket.reserve();
  bucket.reserve();
  await clock.advance(60_000);
  expect([bucket.reserve(), bucket.reserve(), bucket.reserve()].map(Math.round)).toEqual([0, 0, 100]);
});

test("a burst of 0 still allows one request, and a rate of 0 is an error", () => {
  const clock = new ManualClock();
  expect(new TokenBucket({ clock, qps: 1, burst: 0 }).reserve()).toBe(0);
  expect(() => new TokenBucket({ clock, qps: 0, burst: 1 })).toThrow(RangeError);
});
