import { ManualClock } from "@firebolt-operator/kube/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Outcome, WaitingRoom } from "./waiting-room.ts";

const TIMEOUT_MS = 120_000;
const patienceMs = (waitedMs: number): number => TIMEOUT_MS - waitedMs;

test("a release reaches those who wait, and nobody who comes later", async () => {
  const clock = new ManualClock();
  const room = new WaitingRoom(clock);
  const left = new AbortController().signal;
  const first = room.wait({ engine: "e", patienceMs, left });
  room.release("e", "released");
  const second = room.wait({ engine: "e", patienceMs, left });
  expect(await first).toBe("released");
  expect(room.countOf("e")).toBe(1);
  await clock.advance(TIMEOUT_MS);
  expect(await second).toBe("timeout");
  expect([room.size, clock.pending]).toEqual([0, 0]);
});

test("somebody who has left before waiting does not wait", async () => {
  const room = new WaitingRoom(new ManualClock());
  expect(await room.wait({ engine: "e", patienceMs, left: AbortSignal.abort() })).toBe("left");
  expect(room.size).toBe(0);
});

test("patience that grows while somebody waits counts from the beginning", async () => {
  const clock = new ManualClock();
  const room = new WaitingRoom(clock);
  let limitMs = 5_000;
  const left = new AbortController().signal;
  const waiting = room.wait({ engine: "e", patienceMs: (waitedMs) => limitMs - waitedMs, left });
  await clock.advance(4_000);
  limitMs = 120_000;
  await clock.advance(115_000);
  expect(room.size).toBe(1);
  await clock.advance(1_000);
  expect(await waiting).toBe("timeout");
  expect(clock.pending).toBe(0);
});

test("a place is taken from the engine that has the most, the newest first, until the other has as many", async () => {
  const room = new WaitingRoom(new ManualClock());
  const left = new AbortController().signal;
  const enter = (engine: string) => room.wait({ engine, patienceMs, left });
  const [first, second, third, fourth] = [enter("a"), enter("a"), enter("a"), enter("a")];
  void enter("b");
  expect(room.displaceFor("c")).toBe(true);
  expect(await fourth).toBe("displaced");
  void enter("c");
  // a has 3, b and c have one each.
  expect(room.displaceFor("a")).toBe(false);
  expect(room.displaceFor("b")).toBe(true);
  expect(await third).toBe("displaced");
  void enter("b");
  expect([room.countOf("a"), room.countOf("b"), room.countOf("c")]).toEqual([2, 2, 1]);
  // With one place more c would have as many as those it took it from have left: nothing would be gained.
  expect(room.displaceFor("c")).toBe(false);
  room.releaseAll("released");
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

test("held-request-ends-once: everybody ends exactly once, by the first thing that ends them; nobody stays behind a release", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
      const clock = new ManualClock();
      const room = new WaitingRoom(clock);
      const people: { engine: string; since: number; left: AbortController; want?: Outcome; got: Outcome[] }[] = [];
      const end = (who: (typeof people)[number], outcome: Outcome): void => {
        who.want ??= outcome;
      };
      for (const step of steps) {
        if (step.type === "enter") {
          const who = {
            engine: step.engine,
            since: clock.monotonicMs(),
            left: new AbortController(),
            got: [] as Outcome[],
          };
          people.push(who);
          void room
            .wait({ engine: step.engine, patienceMs, left: who.left.signal })
            .then((outcome) => who.got.push(outcome));
        } else if (step.type === "release") {
          room.release(step.engine, "released");
          for (const who of people) if (who.engine === step.engine) end(who, "released");
        } else if (step.type === "leave") {
          const who = people[step.waiter];
          who?.left.abort();
          if (who !== undefined) end(who, "left");
        } else {
          await clock.advance(step.ms);
          for (const who of people) if (clock.monotonicMs() - who.since >= TIMEOUT_MS) end(who, "timeout");
        }
      }
      await clock.advance(0);
      for (const who of people) expect(who.got).toEqual(who.want === undefined ? [] : [who.want]);
      expect(room.size).toBe(people.filter(({ want }) => want === undefined).length);
      expect(clock.pending).toBe(room.size);
    }),
    { numRuns: 300 },
  );
});
