// A body read in chunks: bytes that a late process has not read yet do not count against the sender.
import { PassThrough } from "node:stream";
import { type Clock, systemClock } from "@firebolt-operator/kube";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { BodyBudget } from "./body-budget.ts";
import { BodyTimeoutError, readBody } from "./request-body.ts";

const never = new AbortController().signal;
const TIMEOUT_MS = 1_000;

function start({
  budget = new BodyBudget(1e9),
  clock = new ManualClock(),
}: {
  budget?: BodyBudget;
  clock?: Clock;
} = {}) {
  const stream = new PassThrough();
  const text = readBody(stream, {
    limitBytes: 100,
    announcedBytes: undefined,
    timeoutMs: TIMEOUT_MS,
    clock,
    share: budget.open("unknown"),
    signal: never,
  });
  return { stream, text };
}

test("a body that stops half-way times out", async () => {
  const clock = new ManualClock();
  const { stream, text } = start({ clock });
  const outcome = expect(text).rejects.toThrow(BodyTimeoutError);
  stream.write("{");
  await clock.advance(TIMEOUT_MS);
  await outcome;
});

test("bytes that arrived before the timer callback runs still count", async () => {
  let fire = (): void => undefined;
  const clock: Clock = {
    ...systemClock,
    after(_delayMs, callback) {
      fire = callback;
      return () => undefined;
    },
  };
  const { stream, text } = start({ clock });
  fire();
  stream.write("{");
  await new Promise((resolve) => setImmediate(resolve));
  stream.end("}");
  expect(await text).toBe("{}");
});

test("waiting for budget does not count towards the timeout", async () => {
  const budget = new BodyBudget(10);
  const holder = budget.open("known");
  holder.add(10);
  const clock = new ManualClock();
  const { stream, text } = start({ budget, clock });
  stream.write("{");
  await new Promise((resolve) => setImmediate(resolve));
  expect(budget.waiting).toBe(1);
  await clock.advance(TIMEOUT_MS * 5);
  stream.end("}");
  holder.release();
  expect(await text).toBe("{}");
});
