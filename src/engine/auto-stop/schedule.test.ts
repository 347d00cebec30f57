import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type ScheduleWindow, WEEKDAYS } from "../../api/firebolt-engine/auto-stop.ts";
import { isScheduleOpen, isWindowOpen } from "./schedule.ts";

const at = (text: string): number => Date.parse(`${text}Z`);
const HOURS: ScheduleWindow = { start: "08:00", end: "18:00", days: ["Mon", "Tue", "Wed", "Thu", "Fri"] };
const NIGHT: ScheduleWindow = { start: "22:00", end: "02:00", days: ["Wed"] };

// 2026-06-01 is a Monday.
test.each([
  ["window-on-weekdays: Mon 07:59", HOURS, "2026-06-01T07:59:59", false],
  ["window-on-weekdays: Mon 08:00", HOURS, "2026-06-01T08:00:00", true],
  ["window-on-weekdays: Mon 17:59", HOURS, "2026-06-01T17:59:59", true],
  ["window-on-weekdays: Mon 18:00", HOURS, "2026-06-01T18:00:00", false],
  ["window-on-weekdays: Sat 12:00", HOURS, "2026-06-06T12:00:00", false],
  ["window-across-midnight: Wed 23:00", NIGHT, "2026-06-03T23:00:00", true],
  ["window-across-midnight: Thu 01:59", NIGHT, "2026-06-04T01:59:59", true],
  ["window-across-midnight: Thu 02:00", NIGHT, "2026-06-04T02:00:00", false],
  ["window-across-midnight: Wed 01:00", NIGHT, "2026-06-03T01:00:00", false],
  ["a Sunday that runs into Monday", { start: "23:30", end: "00:30", days: ["Sun"] }, "2026-06-01T00:29:00", true],
  ["no days: every day", { start: "00:00", end: "00:01", days: [] }, "2026-06-07T00:00:30", true],
  ["the last minute of the day", { start: "23:59", end: "00:00" }, "2026-06-07T23:59:59", true],
  ["29 February is a day like others", { start: "10:00", end: "11:00", days: ["Thu"] }, "2024-02-29T10:30:00", true],
] satisfies [string, ScheduleWindow, string, boolean][])("%s", (_, window, time, open) => {
  expect(isWindowOpen(window, at(time))).toBe(open);
});

test("window-of-no-length: a window that ends where it begins is never open", () => {
  for (let minute = 0; minute < 1_440; minute++)
    expect(isWindowOpen({ start: "09:00", end: "09:00" }, at("2026-06-01T00:00:00") + minute * 60_000)).toBe(false);
});

test.each([
  { start: "9:00", end: "10:00" },
  { start: "24:00", end: "10:00" },
  { start: "09:00", end: "10:60" },
  { start: "", end: "" },
])("a malformed window is ignored: %o", (window) => {
  expect(isScheduleOpen([window], at("2026-06-01T09:30:00"))).toBe(false);
});

test("any open window suffices", () => {
  expect(isScheduleOpen([NIGHT, HOURS], at("2026-06-01T09:00:00"))).toBe(true);
  expect(isScheduleOpen([NIGHT, HOURS], at("2026-06-01T19:00:00"))).toBe(false);
  expect(isScheduleOpen([], at("2026-06-01T09:00:00"))).toBe(false);
  expect(isScheduleOpen(undefined, at("2026-06-01T09:00:00"))).toBe(false);
});

const minuteText = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
const anyWindow = fc.record({
  start: fc.integer({ min: 0, max: 1_439 }).map(minuteText),
  end: fc.integer({ min: 0, max: 1_439 }).map(minuteText),
  days: fc.uniqueArray(fc.constantFrom(...WEEKDAYS), { maxLength: 7 }),
});
const anyTime = fc.integer({ min: Date.UTC(1999, 11, 30), max: Date.UTC(2101, 0, 3) });

/** Another way to say it: the window opened on some day, at its start, and lasts for its length. */
function oracle({ start, end, days = [] }: ScheduleWindow, nowMs: number): boolean {
  const minutes = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
  const length = (minutes(end) - minutes(start) + 1_440) % 1_440;
  const now = new Date(nowMs);
  return [0, 1].some((daysAgo) => {
    const day = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() - daysAgo));
    const name = day.toUTCString().slice(0, 3);
    const openMs = day.getTime() + minutes(start) * 60_000;
    const wanted = days.length === 0 || days.some((candidate) => candidate === name);
    return wanted && nowMs >= openMs && nowMs < openMs + length * 60_000;
  });
}

describe("whatever zone the host is in", () => {
  const before = process.env["TZ"];
  afterEach(() => {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  });

  test.each([
    ["UTC", 0, 0],
    ["America/New_York", 300, 240],
    ["Europe/Berlin", -60, -120],
    ["Asia/Kathmandu", -345, -345],
    ["Australia/Lord_Howe", -660, -630],
    ["Pacific/Apia", -780, -780],
  ])("%s: any window at any time, leap days and changes of summer time included", (zone, january, july) => {
    process.env["TZ"] = zone;
    // The host really is there: otherwise this test would say nothing.
    expect(new Date(2026, 0, 15).getTimezoneOffset()).toBe(january);
    expect(new Date(2026, 6, 15).getTimezoneOffset()).toBe(july);
    const changes = [Date.UTC(2026, 2, 8), Date.UTC(2026, 2, 29), Date.UTC(2026, 9, 25), Date.UTC(2026, 10, 1)];
    const leap = [Date.UTC(2024, 1, 29), Date.UTC(2000, 1, 29), Date.UTC(2100, 1, 28)];
    const nearby = fc
      .tuple(fc.constantFrom(...changes, ...leap), fc.integer({ min: -36, max: 36 }), fc.integer({ min: 0, max: 59 }))
      .map(([day, hours, minutes]) => day + hours * 3_600_000 + minutes * 60_000);
    fc.assert(
      fc.property(anyWindow, fc.oneof(anyTime, nearby), (window, nowMs) => {
        expect(isWindowOpen(window, nowMs)).toBe(oracle(window, nowMs));
      }),
      { numRuns: 2_000 },
    );
  });
});
