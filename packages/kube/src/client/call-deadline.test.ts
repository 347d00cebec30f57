// A call ends at its deadline or on abort, whatever it is waiting for, and leaves no timer.
import { expect, test } from "vitest";
import { KubeTimeoutError } from "../core/errors.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { CallDeadline } from "./call-deadline.ts";

const start = (clock: ManualClock, signal?: AbortSignal): CallDeadline =>
  new CallDeadline({ clock, timeoutMs: 1000, signal, request: "GET /x" });

test("a step that is waiting at the deadline fails with the request and the timeout", async () => {
  const clock = new ManualClock();
  const outcome = start(clock)
    .race(new Promise(() => undefined))
    .catch((error: unknown) => error);
  await clock.advance(999);
  await clock.advance(1);
  expect(await outcome).toBeInstanceOf(KubeTimeoutError);
  expect(await outcome).toHaveProperty("message", "GET /x: no complete response within 1000 ms");
});

test("an abort rejects with the signal's own reason and cancels the sleep", async () => {
  const clock = new ManualClock();
  const abort = new AbortController();
  const deadline = start(clock, abort.signal);
  const outcome = deadline.sleep(500).catch((error: unknown) => error);
  const reason = new Error("shutting down");
  abort.abort(reason);
  expect(await outcome).toBe(reason);
  expect(() => deadline.check()).toThrow(reason);
  deadline.close();
  expect(clock.pending).toBe(0);
});

test("a signal that fired before the call interrupts its first step", async () => {
  const deadline = start(new ManualClock(), AbortSignal.abort("gone"));
  await expect(deadline.sleep(1)).rejects.toBe("gone");
  await expect(deadline.race(Promise.resolve(1))).rejects.toBe("gone");
});

test("steps that finish in time are not affected, and closing releases the timer", async () => {
  const clock = new ManualClock();
  const deadline = start(clock);
  const slept = deadline.sleep(400);
  await clock.advance(400);
  await slept;
  expect(deadline.remainingMs).toBe(600);
  expect(await deadline.race(Promise.resolve("value"))).toBe("value");
  deadline.close();
  expect(clock.pending).toBe(0);
});
