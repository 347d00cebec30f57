import fc from "fast-check";
import { expect, test } from "vitest";
import { type Activity, type AutoStopInput, decideAutoStop } from "./decide.ts";
import { Evaluations } from "./evaluations.ts";
import type { AutoStopPolicy } from "./policy.ts";
import { isScheduleOpen } from "./schedule.ts";
import { isWakeFresh } from "./wake-stamp.ts";

const NOW = Date.UTC(2026, 5, 1, 12);
const MINUTE = 60_000;
const policy: AutoStopPolicy = {
  activeReplicas: 2,
  idleReplicas: 0,
  idleTimeoutMs: 30 * MINUTE,
  pollIntervalMs: MINUTE,
  schedule: [],
};
const OPEN = [{ start: "08:00", end: "18:00" }];
const quiet: Activity = { type: "read", queries: 0 };
const busy: Activity = { type: "read", queries: 3 };
const failed: Activity = { type: "failed", cause: "pod e-g0-0: no answer" };

const input = (changes: Partial<AutoStopInput> = {}): AutoStopInput => ({
  policy,
  replicas: 2,
  wakeStampMs: undefined,
  activity: quiet,
  lastActivityMs: NOW - MINUTE,
  nowMs: NOW,
  ...changes,
});

type Row = readonly [string, Partial<AutoStopInput>, object];

test.each<Row>([
  ["rank 1: off", { policy: undefined }, { rank: 1, reason: "Disabled", replicas: 2, lastActivityMs: undefined }],
  [
    "stamp-while-auto-stop-off: rank 1: off stands above a wake",
    { policy: undefined, replicas: 0, wakeStampMs: NOW },
    { rank: 1, reason: "Disabled", replicas: 0 },
  ],
  [
    "woken-by-fresh-stamp: rank 2: wake from zero, with a full timeout before it",
    { replicas: 0, wakeStampMs: NOW, activity: { type: "notProbed" }, lastActivityMs: NOW - 999 * MINUTE },
    { rank: 2, reason: "WakeRequested", replicas: 2, lastActivityMs: NOW },
  ],
  [
    "rank 2: at the active number, nothing to change",
    { wakeStampMs: NOW },
    { rank: 2, replicas: 2, lastActivityMs: NOW - MINUTE },
  ],
  [
    "activity-clock-of-its-own: rank 2: activity counts while a wake holds",
    { wakeStampMs: NOW, activity: busy },
    { rank: 2, lastActivityMs: NOW },
  ],
  [
    "stamp-not-fresh: rank 2: not for an old stamp",
    { replicas: 0, wakeStampMs: NOW - 6 * MINUTE },
    { rank: 4, reason: "Stopped", replicas: 0 },
  ],
  [
    "stamp-not-fresh: rank 2: not for a stamp ahead",
    { replicas: 0, wakeStampMs: NOW + 60 * MINUTE },
    { rank: 4, replicas: 0 },
  ],
  [
    "stamp-while-running, wake-never-resizes: rank 2: never another positive number",
    { replicas: 5, wakeStampMs: NOW },
    { rank: 9, replicas: 5 },
  ],
  [
    "window-on-weekdays: rank 3: a window raises from zero",
    { policy: { ...policy, schedule: OPEN }, replicas: 0, activity: { type: "notProbed" } },
    { rank: 3, reason: "ScheduleActive", replicas: 2, lastActivityMs: NOW },
  ],
  [
    "rank 3: a window corrects any number",
    { policy: { ...policy, schedule: OPEN }, replicas: 5 },
    { rank: 3, replicas: 2, lastActivityMs: NOW - MINUTE },
  ],
  [
    "query-outlasts-window, activity-clock-of-its-own: rank 3: activity counts inside a window",
    { policy: { ...policy, schedule: OPEN }, activity: busy },
    { rank: 3, lastActivityMs: NOW },
  ],
  [
    "rank 4: stopped stays",
    { replicas: 0, activity: { type: "notProbed" } },
    { rank: 4, reason: "Stopped", replicas: 0 },
  ],
  [
    "scrapes-fail-for-hours: rank 5: a failed scrape is activity",
    { activity: failed, lastActivityMs: NOW - 999 * MINUTE },
    { rank: 5, reason: "ScrapeFailed", replicas: 2, lastActivityMs: NOW },
  ],
  ["rank 6: queries", { activity: busy }, { rank: 6, reason: "ActivityObserved", lastActivityMs: NOW }],
  [
    "auto-stop-just-enabled: rank 7: first quiet look",
    { lastActivityMs: undefined },
    { rank: 7, reason: "Initializing", replicas: 2, lastActivityMs: NOW },
  ],
  [
    "idle-for-its-time: rank 8: idle",
    { lastActivityMs: NOW - 30 * MINUTE },
    { rank: 8, reason: "Idle", replicas: 0, lastActivityMs: NOW - 30 * MINUTE },
  ],
  [
    "rank 9: not idle for long enough",
    { lastActivityMs: NOW - 30 * MINUTE + 1 },
    { rank: 9, reason: "ActivityObserved", replicas: 2 },
  ],
  [
    "rank 9: idle at the idle number",
    { policy: { ...policy, idleReplicas: 1 }, replicas: 1, lastActivityMs: NOW - 99 * MINUTE },
    { rank: 9, replicas: 1 },
  ],
])("%s", (_, changes, want) => {
  expect(decideAutoStop(input(changes))).toMatchObject(want);
});

test.each<Row>([
  [
    "a restart: used a minute ago for all that is known, so it has a full timeout",
    { lastEvaluated: "never", lastActivityMs: NOW - 40 * MINUTE },
    { rank: 7, reason: "Initializing", replicas: 2, lastActivityMs: NOW },
  ],
  [
    "an API outage that the process survived",
    { lastEvaluated: NOW - 35 * MINUTE, lastActivityMs: NOW - 40 * MINUTE },
    { rank: 7, replicas: 2, lastActivityMs: NOW },
  ],
  [
    "inside a window the clock starts afresh as well",
    { policy: { ...policy, schedule: OPEN }, lastEvaluated: NOW - 35 * MINUTE, lastActivityMs: NOW - 40 * MINUTE },
    { rank: 3, replicas: 2, lastActivityMs: NOW },
  ],
  [
    "polls that are late, or one that failed to be made, are no gap",
    { lastEvaluated: NOW - 3 * MINUTE, lastActivityMs: NOW - 30 * MINUTE },
    { rank: 8, replicas: 0 },
  ],
  [
    "more than three polls are",
    { lastEvaluated: NOW - 3 * MINUTE - 1, lastActivityMs: NOW - 30 * MINUTE },
    { rank: 7, replicas: 2 },
  ],
  [
    "with polls of a second a busy operator is no gap",
    { policy: { ...policy, pollIntervalMs: 1_000 }, lastEvaluated: NOW - 30_000, lastActivityMs: NOW - 30 * MINUTE },
    { rank: 8, replicas: 0 },
  ],
  [
    "a restart right after activity is none either",
    { lastEvaluated: "never", lastActivityMs: NOW - MINUTE },
    { rank: 9, lastActivityMs: NOW - MINUTE },
  ],
  [
    "nor is the time of a rollout, which ends with the clock set",
    { lastEvaluated: NOW - 60 * MINUTE, lastActivityMs: NOW - 2 * MINUTE },
    { rank: 9, lastActivityMs: NOW - 2 * MINUTE },
  ],
  [
    "queries after it are activity as ever",
    { lastEvaluated: "never", lastActivityMs: NOW - 40 * MINUTE, activity: busy },
    { rank: 6, lastActivityMs: NOW },
  ],
])("unobserved: %s", (_, changes, want) => {
  expect(decideAutoStop(input(changes))).toMatchObject(want);
});

test("an engine in use during an outage longer than the idle timeout is not stopped by the first quiet sample, but a timeout later", () => {
  const evaluations = new Evaluations();
  let lastActivityMs: number | undefined;
  const evaluate = (nowMs: number) => {
    const lastEvaluated = evaluations.lastOf("uid");
    evaluations.note("uid", nowMs);
    const verdict = decideAutoStop(input({ nowMs, lastActivityMs, lastEvaluated }));
    ({ lastActivityMs } = verdict);
    return verdict.replicas;
  };
  for (let minute = 0; minute < 10; minute++) expect(evaluate(NOW + minute * MINUTE)).toBe(2);
  const back = NOW + 60 * MINUTE;
  for (let minute = 0; minute < 30; minute++) expect(evaluate(back + minute * MINUTE)).toBe(2);
  expect(evaluate(back + 30 * MINUTE)).toBe(0);
  evaluations.forget("uid");
  expect(evaluations.lastOf("uid")).toBe("never");
});

const anyActivity: fc.Arbitrary<Activity> = fc.oneof(
  fc.constant(quiet),
  fc.constant(failed),
  fc.constant<Activity>({ type: "notProbed" }),
  fc.integer({ min: 1, max: 9 }).map((queries): Activity => ({ type: "read", queries })),
);
const anyPolicy = fc.record({
  activeReplicas: fc.integer({ min: 1, max: 4 }),
  idleReplicas: fc.integer({ min: 0, max: 1 }),
  idleTimeoutMs: fc.integer({ min: 1, max: 60 * MINUTE }),
  pollIntervalMs: fc.constant(MINUTE),
  schedule: fc.constantFrom([], OPEN, [{ start: "13:00", end: "12:00" }], [{ start: "20:00", end: "21:00" }]),
});
const around = fc.option(fc.integer({ min: NOW - 90 * MINUTE, max: NOW + 3 * MINUTE }), { nil: undefined });
const anyInput: fc.Arbitrary<AutoStopInput> = fc.record({
  policy: fc.option(anyPolicy, { nil: undefined }),
  replicas: fc.integer({ min: 0, max: 5 }),
  wakeStampMs: around,
  activity: anyActivity,
  lastActivityMs: around,
  lastEvaluated: fc.oneof(fc.constant("never" as const), fc.integer({ min: NOW - 90 * MINUTE, max: NOW })),
  nowMs: fc.constant(NOW),
});

test("policy-off-never-scales, scaled-only-to-configured-numbers, stopped-only-when-quiet, wake-only-fresh-from-zero, full-timeout-after-start: whatever is seen, replicas change only as promised", () => {
  fc.assert(
    fc.property(anyInput, (given) => {
      const { rank, replicas, lastActivityMs } = decideAutoStop(given);
      const { policy: block, activity, nowMs } = given;
      if (block === undefined) {
        expect(replicas).toBe(given.replicas);
        return;
      }
      if (replicas === given.replicas) return;
      expect([block.activeReplicas, block.idleReplicas]).toContain(replicas);
      const windowOpen = isScheduleOpen(block.schedule, nowMs);
      if (replicas > given.replicas) {
        expect(lastActivityMs).toBe(nowMs);
        if (!windowOpen) expect(given.replicas === 0 && isWakeFresh(given.wakeStampMs, nowMs)).toBe(true);
      } else if (!windowOpen) {
        expect(rank).toBe(8);
        expect(activity).toEqual(quiet);
        expect(nowMs - (given.lastActivityMs ?? nowMs)).toBeGreaterThanOrEqual(block.idleTimeoutMs);
        const seenMs = given.lastEvaluated === "never" ? (given.lastActivityMs ?? 0) : (given.lastEvaluated ?? 0);
        expect(nowMs - Math.max(seenMs, given.lastActivityMs ?? 0)).toBeLessThanOrEqual(3 * MINUTE);
        const wake = isWakeFresh(given.wakeStampMs, nowMs);
        expect(wake && given.replicas === block.activeReplicas).toBe(false);
      }
    }),
    { numRuns: 5_000 },
  );
});
