import { expect, test, vi } from "vitest";
import { limitMs, startDeadline } from "./deadline.ts";

test("fires after the timeout", () => {
  vi.useFakeTimers();
  try {
    using deadline = startDeadline(new AbortController().signal, 100);
    vi.advanceTimersByTime(99);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect([deadline.signal.aborted, deadline.passed]).toEqual([true, true]);
  } finally {
    vi.useRealTimers();
  }
});

test("fires with its parent, even one that fired before", () => {
  const parent = new AbortController();
  using deadline = startDeadline(parent.signal, 1_000_000);
  parent.abort(new Error("stop"));
  expect([deadline.signal.aborted, deadline.passed]).toEqual([true, false]);
  using late = startDeadline(parent.signal);
  expect(late.signal.reason).toEqual(new Error("stop"));
});

test("disposing it is not a timeout", () => {
  using deadline = startDeadline(new AbortController().signal, 1_000_000);
  deadline.end();
  expect([deadline.signal.aborted, deadline.passed]).toEqual([true, false]);
});

test("0 is no limit", () => {
  vi.useFakeTimers();
  try {
    using unlimited = startDeadline(new AbortController().signal, limitMs(0));
    vi.advanceTimersByTime(1_000_000_000);
    expect(unlimited.signal.aborted).toBe(false);
    expect([limitMs(1), limitMs(undefined)]).toEqual([1, undefined]);
  } finally {
    vi.useRealTimers();
  }
});
