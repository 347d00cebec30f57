// A body read piece by piece: what a late process has not read yet is no fault of the sender.
import { PassThrough } from "node:stream";
import { type Clock, systemClock } from "@firebolt-operator/kube";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { expect, test } from "vitest";
import { BodyRoom } from "./body-room.ts";
import { BodyTimeoutError, readBody } from "./request-body.ts";

const never = new AbortController().signal;
const TIMEOUT_MS = 1_000;

function start({ room = new BodyRoom(1e9), clock = new ManualClock() }: { room?: BodyRoom; clock?: Clock } = {}) {
  const stream = new PassThrough();
  const text = readBody(stream, {
    limitBytes: 100,
    announcedBytes: undefined,
    timeoutMs: TIMEOUT_MS,
    clock,
    share: room.open("stranger"),
    signal: never,
  });
  return { stream, text };
}

test("a sender that stops in the middle is given up", async () => {
  const clock = new ManualClock();
  const { stream, text } = start({ clock });
  const outcome = expect(text).rejects.toThrow(BodyTimeoutError);
  stream.write("{");
  await clock.advance(TIMEOUT_MS);
  await outcome;
});

test("what has arrived by the time that the timer is served still counts", async () => {
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

test("time spent waiting for room is not the sender's", async () => {
  const room = new BodyRoom(10);
  const holder = room.open("known");
  holder.add(10);
  const clock = new ManualClock();
  const { stream, text } = start({ room, clock });
  stream.write("{");
  await new Promise((resolve) => setImmediate(resolve));
  expect(room.waiting).toBe(1);
  await clock.advance(TIMEOUT_MS * 5);
  stream.end("}");
  holder.release();
  expect(await text).toBe("{}");
});
