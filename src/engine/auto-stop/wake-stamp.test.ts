import fc from "fast-check";
import { expect, test } from "vitest";
import { isWakeFresh, parseRfc3339, wakeStampOf } from "./wake-stamp.ts";

const NOW = Date.UTC(2026, 0, 1, 12);

test.each([
  ["requeue", 0, true],
  ["just under five minutes old", -299_999, true],
  ["five minutes old", -300_000, false],
  ["stamp-not-fresh: six minutes old", -360_000, false],
  ["a minute ahead: clocks differ", 60_000, true],
  ["more than a minute ahead", 60_001, false],
  ["stamp-not-fresh: an hour ahead", 3_600_000, false],
])("%s", (_, byMs, fresh) => {
  expect(isWakeFresh(NOW + byMs, NOW)).toBe(fresh);
});

test("no stamp is never fresh", () => {
  expect(isWakeFresh(undefined, NOW)).toBe(false);
});

test.each([
  ["2026-01-01T12:00:00Z", NOW],
  ["2026-01-01t12:00:00z", NOW],
  ["2026-01-01T12:00:00.25Z", NOW + 250],
  ["2026-01-01T12:00:00.123456789Z", NOW + 123],
  ["2026-01-01T13:30:00+01:30", NOW],
  ["2026-01-01T00:00:00-12:00", NOW],
  ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
])("reads %s", (text, ms) => {
  expect(parseRfc3339(text)).toBe(ms);
});

test.each([
  "",
  "requeue",
  "1767268800",
  "2026-01-01",
  "2026-01-01T12:00:00",
  "2026-01-01 12:00:00Z",
  "2026-02-29T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-01-01T24:00:00Z",
  "2026-01-01T12:60:00Z",
  "2026-01-01T12:00:00+24:00",
  " 2026-01-01T12:00:00Z",
])("stamp-not-fresh: %j is no time", (text) => {
  expect(parseRfc3339(text)).toBeUndefined();
});

test("reads back what it is given, in any zone", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (seconds) => {
      expect(parseRfc3339(new Date(seconds * 1_000).toISOString())).toBe(seconds * 1_000);
    }),
  );
});

test("is found on the engine", () => {
  const annotations = { "firebolt.io/wake-requested": "2026-01-01T12:00:00Z" };
  expect(wakeStampOf({ annotations })).toBe(NOW);
  expect(wakeStampOf({})).toBeUndefined();
  expect(wakeStampOf(undefined)).toBeUndefined();
});
