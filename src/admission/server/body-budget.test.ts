// Only bytes that have arrived count; unknown connections leave half of the budget to known ones; no body waits for
// ever.
import fc from "fast-check";
import { expect, test } from "vitest";
import { BodyBudget, type BodyShare } from "./body-budget.ts";

const never = new AbortController().signal;

test("announced bodies use nothing: any number of silent ones leaves the whole budget to others", () => {
  const budget = new BodyBudget(100);
  for (let index = 0; index < 1_000; index++) budget.open("unknown");
  const body = budget.open("unknown");
  expect([body.add(50), budget.bytes]).toEqual([true, 50]);
});

test("unknown connections fill half of the budget, known ones all of it", () => {
  const budget = new BodyBudget(100);
  expect(budget.open("unknown").add(50)).toBe(true);
  expect(budget.open("unknown").add(1)).toBe(false);
  expect(budget.open("known").add(49)).toBe(true);
  expect(budget.open("known").add(2)).toBe(false);
});

test("a first chunk each of many unknown connections does not use the half of known ones", () => {
  const budget = new BodyBudget(100);
  for (let index = 0; index < 50; index++) budget.open("unknown").add(10);
  const known = budget.open("known");
  expect([known.add(50), known.add(1)]).toEqual([true, false]);
});

test("waiting bodies continue when bytes are released, known connections first", async () => {
  const budget = new BodyBudget(100);
  const holder = budget.open("known");
  holder.add(100);
  const order: string[] = [];
  const wait = (name: string, share: BodyShare) => {
    expect(share.add(1)).toBe(false);
    return share.whenAvailable(never).then(() => order.push(name));
  };
  const all = [wait("unknown", budget.open("unknown")), wait("known", budget.open("known"))];
  expect(budget.waiting).toBe(2);
  holder.release();
  holder.release(); // Giving back twice counts once.
  await Promise.all(all);
  expect([order, budget.bytes]).toEqual([["known", "unknown"], 2]);
});

test("a body larger than the budget continues alone, and of bodies that all wait one continues", async () => {
  const budget = new BodyBudget(10);
  const large = budget.open("unknown");
  expect(large.add(500)).toBe(true);
  const other = budget.open("unknown");
  expect(other.add(1)).toBe(false);
  const waiting = other.whenAvailable(never);
  expect(large.add(1)).toBe(true);
  large.release();
  await waiting;
});

test("an aborted wait rejects with the reason", async () => {
  const budget = new BodyBudget(1);
  budget.open("known").add(2);
  const share = budget.open("known");
  share.add(1);
  const ending = new AbortController();
  const waiting = share.whenAvailable(ending.signal);
  ending.abort(new Error("too late"));
  await expect(waiting).rejects.toThrow("too late");
  expect(budget.waiting).toBe(0);
  await expect(share.whenAvailable(AbortSignal.abort(new Error("never began")))).rejects.toThrow("never began");
});

test("at random: some body can always continue, and at the end nothing is held", async () => {
  const connection = fc.constantFrom("known" as const, "unknown" as const);
  const chunks = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ connection, chunks }), { maxLength: 12 }), async (bodies) => {
      const budget = new BodyBudget(60);
      const read = async (share: BodyShare, sizes: readonly number[]): Promise<void> => {
        for (const size of sizes) if (!share.add(size)) await share.whenAvailable(never);
        share.release();
      };
      await Promise.all(bodies.map((body) => read(budget.open(body.connection), body.chunks)));
      expect([budget.bytes, budget.waiting]).toEqual([0, 0]);
    }),
  );
});
