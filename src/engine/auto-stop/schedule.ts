// Whether a schedule window is open at a moment (docs/design/auto-stop.md#schedules). Everything is UTC at the
// resolution of minutes: the zone of the host, its changes to summer time and the length of months do not matter.

import { type ScheduleWindow, WEEKDAYS } from "../../api/firebolt-engine/auto-stop.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";

type Window = DeepReadonly<ScheduleWindow>;

const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 1_440;
const DAYS_PER_WEEK = 7;
/** 1 January 1970 was a Thursday, the fourth day of a week that starts on Monday. */
const EPOCH_WEEKDAY = 3;
const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** Any open window suffices. */
export function isScheduleOpen(windows: readonly Window[] | undefined, nowMs: number): boolean {
  return (windows ?? []).some((window) => isWindowOpen(window, nowMs));
}

/** A stored window that is malformed is ignored; admission rejects it. */
export function isWindowOpen({ start, end, days }: Window, nowMs: number): boolean {
  const from = minuteOf(start);
  const until = minuteOf(end);
  if (from === undefined || until === undefined || from === until) return false;
  const minutes = Math.floor(nowMs / MINUTE_MS);
  const minute = modulo(minutes, MINUTES_PER_DAY);
  const day = modulo(Math.floor(minutes / MINUTES_PER_DAY) + EPOCH_WEEKDAY, DAYS_PER_WEEK);
  if (from < until) return minute >= from && minute < until && isOn(days, day);
  // Past midnight the window still belongs to the day on which it began.
  return (minute >= from && isOn(days, day)) || (minute < until && isOn(days, modulo(day - 1, DAYS_PER_WEEK)));
}

function isOn(days: Window["days"], day: number): boolean {
  return days === undefined || days.length === 0 || days.some((name) => WEEKDAYS[day] === name);
}

function minuteOf(text: unknown): number | undefined {
  const match = typeof text === "string" ? TIME_OF_DAY.exec(text) : null;
  return match === null ? undefined : Number(match[1]) * 60 + Number(match[2]);
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
