import { ManualClock } from "@firebolt-operator/kube/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HoldQueue, type Outcome } from "./queue.ts";

const TIMEOUT_MS = 120_000;
const patienceMs = (waitedMs: number): number => TIMEOUT_MS - waitedMs;

test("a release reaches the requests that wait, and none that comes later", async () => {
  const clock = new ManualClock();
  const queue = new HoldQueue(clock);
  const disconnected = new AbortController().signal;
  const first = queue.wait({ engine: "e", patienceMs, disconnected });
  queue.release("e", "released");
  const second = queue.wait({ engine: "e", patienceMs, disconnected });
  expect(await first).toBe("released");
  expect(queue.countOf("e")).toBe(1);
  await clock.advance(TIMEOUT_MS);
  expect(await second).toBe("timeout");
  expect([queue.size, clock.pending]).toEqual([0, 0]);
});

test("a request whose client has already disconnected does not wait", async () => {
  const queue = new HoldQueue(new ManualClock());
  expect(await queue.wait({ engine: "e", patienceMs, disconnected: AbortSignal.abort() })).toBe("disconnected");
  expect(queue.size).toBe(0);
});

test("a timeout that grows while a request waits counts from its arrival", async () => {
  const clock = new ManualClock();
  const queue = new HoldQueue(clock);
  let limitMs = 5_000;
  const disconnected = new AbortController().signal;
  const waiting = queue.wait({ engine: "e", patienceMs: (waitedMs) => limitMs - waitedMs, disconnected });
  await clock.advance(4_000);
  limitMs = 120_000;
  await clock.advance(115_000);
  expect(queue.size).toBe(1);
  await clock.advance(1_000);
  expect(await waiting).toBe("timeout");
  expect(clock.pending).toBe(0);
});

test("a request of the engine that has the most is displaced, the newest first, until the other has as many", async () => {
  const queue = new HoldQueue(new ManualClock());
  const disconnected = new AbortController().signal;
  const enter = (engine: string) => queue.wait({ engine, patienceMs, disconnected });
  const [first, second, third, fourth] = [enter("a"), enter("a"), enter("a"), enter("a")];
  void enter("b");
  expect(queue.displaceFor("c")).toBe(true);
  expect(await fourth).toBe("displaced");
  void enter("c");
  // a has 3, b and c have one each.
  expect(queue.displaceFor("a")).toBe(false);
  expect(queue.displaceFor("b")).toBe(true);
  expect(await third).toBe("displaced");
  void enter("b");
  expect([queue.countOf("a"), queue.countOf("b"), queue.countOf("c")]).toEqual([2, 2, 1]);
  // With one more place c would have as many as a and b have left: nothing would be gained.
  expect(queue.displaceFor("c")).toBe(false);
  queue.releaseAll("released");
  expect([await first, await second]).toEqual(["released", "released"]);
});

type Step =
  | { readonly type: "enter"; readonly engine: string }
  | { readonly type: "release"; readonly engine: string }
  | { readonly type: "leave"; readonly waiter: number }
  | { readonly type: "time"; readonly ms: number };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom("a", "b").map((engine): Step => ({ type: "enter", engine })),
  fc.constantFrom("a", "b").map((engine): Step => ({ type: "release", engine })),
  fc.nat(30).map((waiter): Step => ({ type: "leave", waiter })),
  fc.integer({ min: 1, max: 70_000 }).map((ms): Step => ({ type: "time", ms })),
);

test("held-request-ends-once: every request ends exactly once, by the first event that ends it; none is left after a release", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
      const clock = new ManualClock();
      const queue = new HoldQueue(clock);
      const people: { engine: string; since: number; disconnected: AbortController; want?: Outcome; got: Outcome[] }[] =
        [];
      const end = (who: (typeof people)[number], outcome: Outcome): void => {
        who.want ??= outcome;
      };
      for (const step of steps) {
        if (step.type === "enter") {
          const who = {
            engine: step.engine,
            since: clock.monotonicMs(),
            disconnected: new AbortController(),
            got: [] as Outcome[],
          };
          people.push(who);
          void queue
            .wait({ engine: step.engine, patienceMs, disconnected: who.disconnected.signal })
            .then((outcome) => who.got.push(outcome));
        } else if (step.type === "release") {
          queue.release(step.engine, "released");
          for (const who of people) if (who.engine === step.engine) end(who, "released");
        } else if (step.type === "leave") {
          const who = people[step.waiter];
          who?.disconnected.abort();
          if (who !== undefined) end(who, "disconnected");
        } else {
          await clock.advance(step.ms);
          for (const who of people) if (clock.monotonicMs() - who.since >= TIMEOUT_MS) end(who, "timeout");
        }
      }
      await clock.advance(0);
      for (const who of people) expect(who.got).toEqual(who.want === undefined ? [] : [who.want]);
      expect(queue.size).toBe(people.filter(({ want }) => want === undefined).length);
      expect(clock.pending).toBe(queue.size);
    }),
    { numRuns: 300 },
  );
});
