// Shared reads are never stale: no caller gets a read that began before its call, and many callers cost at most two
// reads.
import fc from "fast-check";
import { expect, test } from "vitest";
import { SharedReads } from "./shared-reads.ts";

function manualReads() {
  const begun: {
    readonly at: number;
    readonly finish: (value: number) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  let now = 0;
  const read = (): Promise<number> => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    begun.push({ at: now, finish: resolve, fail: reject });
    return promise;
  };
  return { begun, read, tick: () => ++now };
}
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("callers during a read share the next one", async () => {
  const shared = new SharedReads<number>();
  const { begun, read } = manualReads();
  const first = shared.read("k", read);
  const crowd = Array.from({ length: 50 }, () => shared.read("k", read));
  expect(begun).toHaveLength(1);
  begun[0]?.finish(1);
  expect(await first).toBe(1);
  await settle();
  expect(begun).toHaveLength(2);
  begun[1]?.finish(2);
  expect(new Set(await Promise.all(crowd))).toEqual(new Set([2]));
});

test("a failure rejects the callers that shared the read, and no later one", async () => {
  const shared = new SharedReads<number>();
  const { begun, read } = manualReads();
  const first = shared.read("k", read);
  const second = shared.read("k", read);
  begun[0]?.fail(new Error("away"));
  await expect(first).rejects.toThrow("away");
  await settle();
  begun[1]?.finish(7);
  expect(await second).toBe(7);
});

test("different keys do not wait for each other", () => {
  const shared = new SharedReads<number>();
  const { begun, read } = manualReads();
  void shared.read("a", read);
  void shared.read("b", read);
  expect(begun).toHaveLength(2);
});

test("at random: every result comes from a read that began at or after its call", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom("ask", "finish", "settle"), { maxLength: 40 }), async (steps) => {
      const shared = new SharedReads<number>();
      const { begun, read, tick } = manualReads();
      const results: Promise<void>[] = [];
      let finished = 0;
      const finish = (): void => {
        const one = begun[finished];
        if (one === undefined) return;
        finished += 1;
        one.finish(one.at);
      };
      for (const step of steps) {
        const now = tick();
        if (step === "ask") results.push(shared.read("k", read).then((at) => expect(at).toBeGreaterThanOrEqual(now)));
        else if (step === "finish") finish();
        else await settle();
      }
      await settle();
      while (finished < begun.length) {
        finish();
        await settle();
      }
      await Promise.all(results);
    }),
    { numRuns: 500 },
  );
});
