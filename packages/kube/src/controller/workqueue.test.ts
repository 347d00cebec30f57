import { expect, test } from "vitest";
import { InvariantError } from "../core/errors.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { WorkQueue } from "./workqueue.ts";

function setUp() {
  const clock = new ManualClock();
  const counts = { adds: 0, retries: 0, depth: 0, waitedMs: [] as number[], workedMs: [] as number[] };
  const queue = new WorkQueue({
    clock,
    observer: {
      added: () => counts.adds++,
      depth: (keys) => {
        counts.depth = keys;
      },
      waited: (ms) => counts.waitedMs.push(ms),
      worked: (ms) => counts.workedMs.push(ms),
      retried: () => counts.retries++,
    },
  });
  const stop = new AbortController();
  /** Everything handed out, in order. */
  const taken: string[] = [];
  const takeAll = async (): Promise<void> => {
    for await (const key of queue.take(stop.signal)) taken.push(key);
  };
  return { clock, counts, queue, stop, taken, takeAll };
}

test("keys are handed out first come first served, each once", async () => {
  const { clock, queue, taken, takeAll, stop } = setUp();
  for (const key of ["b", "a", "c", "a", "b"]) queue.add(key);
  expect(queue.depth).toBe(3);
  const taking = takeAll();
  await clock.advance(0);
  expect(taken).toEqual(["b", "a", "c"]);
  expect(queue.running().keys).toBe(3);
  stop.abort();
  await taking;
});

test("a key added while it is being worked on is handed out again, but only after it is done", async () => {
  const { clock, queue, taken, takeAll } = setUp();
  void takeAll();
  queue.add("a");
  await clock.advance(0);
  queue.add("a");
  queue.add("a");
  await clock.advance(1000);
  expect(taken).toEqual(["a"]);
  queue.done("a", "onChange");
  await clock.advance(0);
  expect(taken).toEqual(["a", "a"]);
  queue.done("a", "onChange");
  await clock.advance(1000);
  expect(taken).toEqual(["a", "a"]);
  expect(queue.size).toBe(0);
});

test.each([
  { name: "a later request does not put it off", delays: [100, 500], want: 100 },
  { name: "an earlier request brings it forward", delays: [500, 100], want: 100 },
  { name: "an event brings it to now", delays: [500, 0], want: 0 },
])("of several requests the earliest wins: $name", async ({ delays, want }) => {
  const { clock, queue, taken, takeAll } = setUp();
  void takeAll();
  for (const delayMs of delays) queue.add("a", delayMs);
  await clock.advance(want - 1);
  expect(taken).toEqual(want === 0 ? ["a"] : []);
  await clock.advance(1);
  expect(taken).toEqual(["a"]);
  queue.done("a", "onChange");
  await clock.advance(10_000);
  expect(taken).toEqual(["a"]);
});

test("a request during the work wins over the later time that the pass asks for", async () => {
  const { clock, queue, taken, takeAll } = setUp();
  void takeAll();
  queue.add("a");
  await clock.advance(0);
  queue.add("a", 200);
  queue.done("a", { afterMs: 1000 });
  await clock.advance(199);
  expect(taken).toHaveLength(1);
  await clock.advance(1);
  expect(taken).toHaveLength(2);
});

test("a new pass replaces the time that the pass before it asked for", async () => {
  const { clock, queue, taken, takeAll } = setUp();
  void takeAll();
  queue.add("a");
  await clock.advance(0);
  queue.done("a", { afterMs: 1000 });
  await clock.advance(500);
  queue.add("a");
  await clock.advance(0);
  queue.done("a", "onChange");
  await clock.advance(10_000);
  expect(taken).toHaveLength(2);
});

test("the back-off of a key doubles from 5 ms to 1000 s and is forgotten by a good pass", async () => {
  const { clock, queue, taken, takeAll, counts } = setUp();
  void takeAll();
  queue.add("a");
  await clock.advance(0);
  const waits: number[] = [];
  for (let failure = 0; failure < 22; failure++) {
    const before = taken.length;
    const startMs = clock.monotonicMs();
    queue.retry("a");
    while (taken.length === before) await clock.advance(2 ** Math.floor(failure / 2));
    waits.push(clock.monotonicMs() - startMs);
  }
  expect(waits.slice(0, 3)).toEqual([5, 10, 20]);
  expect(waits.at(-1)).toBeGreaterThanOrEqual(1_000_000);
  expect(waits.at(-1)).toBeLessThan(1_002_000);
  expect(counts.retries).toBe(22);
  queue.done("a", { afterMs: 0 });
  await clock.advance(0);
  const before = taken.length;
  queue.retry("a");
  await clock.advance(4);
  expect(taken).toHaveLength(before);
  await clock.advance(1);
  expect(taken).toHaveLength(before + 1);
});

test('"requeue" goes through the back-off and keeps it growing', async () => {
  const { clock, queue, taken, takeAll } = setUp();
  void takeAll();
  queue.add("a");
  await clock.advance(0);
  queue.done("a", "requeue");
  await clock.advance(5);
  expect(taken).toHaveLength(2);
  queue.done("a", "requeue");
  await clock.advance(9);
  expect(taken).toHaveLength(2);
  await clock.advance(1);
  expect(taken).toHaveLength(3);
});

test("a failure may ask for a longer wait than the back-off, which an event cuts short", async () => {
  const { clock, queue, taken, takeAll } = setUp();
  void takeAll();
  queue.add("a");
  await clock.advance(0);
  queue.retry("a", 3000);
  await clock.advance(2999);
  expect(taken).toHaveLength(1);
  queue.add("a");
  await clock.advance(0);
  expect(taken).toHaveLength(2);
});

test("one timer serves any number of delayed keys", () => {
  const { clock, queue } = setUp();
  for (let index = 0; index < 100; index++) queue.add(`key-${index}`, 1000 - index);
  expect(clock.pending).toBe(1);
});

test("the timer moves on to the next due key", async () => {
  const { clock, queue, taken, takeAll } = setUp();
  void takeAll();
  queue.add("late", 300);
  queue.add("early", 100);
  queue.add("early");
  queue.done("early", "onChange");
  await clock.advance(299);
  expect(taken).toEqual(["early"]);
  await clock.advance(1);
  expect(taken).toEqual(["early", "late"]);
});

test("after the signal nothing is handed out, and a key on its way is put back", async () => {
  const { clock, queue, taken, takeAll, stop } = setUp();
  const taking = takeAll();
  await clock.advance(0);
  queue.add("a");
  stop.abort();
  await taking;
  expect(taken).toEqual([]);
  expect(queue.running().keys).toBe(0);
  expect(queue.depth).toBe(1);
});

test("closing ends every take, drops what waits, and lets running work finish", async () => {
  const { clock, queue, taken, takeAll } = setUp();
  const first = queue.take(new AbortController().signal);
  queue.add("busy");
  await first.next();
  const idle = takeAll();
  await clock.advance(0);
  queue.add("later", 50);
  queue.close();
  await idle;
  expect((await first.next()).done).toBe(true);
  queue.add("new");
  queue.retry("busy");
  await clock.advance(10_000);
  expect(taken).toEqual([]);
  expect(queue.size).toBe(0);
  expect(clock.pending).toBe(0);
});

test("the observer sees depth, waiting time and working time", async () => {
  const { clock, counts, queue, takeAll } = setUp();
  queue.add("a");
  queue.add("b");
  expect(counts.depth).toBe(2);
  await clock.advance(30);
  void takeAll();
  await clock.advance(0);
  expect(counts).toMatchObject({ adds: 2, depth: 0, waitedMs: [30, 30] });
  await clock.advance(70);
  expect(queue.running()).toMatchObject({ keys: 2, unfinishedMs: 140, longestMs: 70, longestSilentMs: 70 });
  queue.heartbeat("a");
  queue.done("b", "onChange");
  expect(counts.workedMs).toEqual([70]);
  expect(queue.running()).toMatchObject({ keys: 1, longestMs: 70, longestSilentMs: 0 });
});

test("misuse is refused", () => {
  const { queue } = setUp();
  expect(() => queue.done("never", "onChange")).toThrow(InvariantError);
  expect(() => queue.add("a", Number.NaN)).toThrow(InvariantError);
  expect(queue.size).toBe(0);
});

test("long requeues of many keys do not fall due in one burst; short ones are kept to the millisecond", async () => {
  const { clock, queue, taken, takeAll } = setUp();
  void takeAll();
  const keys = Array.from({ length: 1_000 }, (_, i) => `ns/engine-${i}`);
  for (const key of keys) queue.add(key);
  await clock.advance(0);
  for (const key of keys.slice(0, 500)) queue.done(key, { afterMs: 240_000 });
  for (const key of keys.slice(500)) queue.done(key, { afterMs: 59_999 });
  taken.length = 0;
  await clock.advance(59_998);
  expect(taken).toEqual([]);
  await clock.advance(1);
  expect(taken).toHaveLength(500);
  taken.length = 0;
  await clock.advance(216_000 - 59_999 - 1);
  expect(taken).toEqual([]);
  let most = 0;
  for (let second = 0; second < 48; second += 1) {
    const before = taken.length;
    await clock.advance(1_000);
    most = Math.max(most, taken.length - before);
  }
  await clock.advance(1);
  expect(taken).toHaveLength(500);
  expect(most).toBeLessThan(40);
});
