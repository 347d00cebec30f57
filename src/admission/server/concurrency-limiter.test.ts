// The limiter never exceeds its limit, loses no queued request, and keeps the order: known connections first.
import fc from "fast-check";
import { expect, test } from "vitest";
import { ConcurrencyLimiter } from "./concurrency-limiter.ts";

const never = new AbortController().signal;
const way = async (entered: Promise<(() => void) | "full">): Promise<() => void> => {
  const leave = await entered;
  if (leave === "full") throw new Error("full");
  return leave;
};
const limits = { requests: 2, bytes: 100, waiting: 10 };

test("requests beyond the limit wait in order, and start when a slot is released", async () => {
  const limiter = new ConcurrencyLimiter(limits);
  const order: string[] = [];
  const first = await way(limiter.acquire("unknown", never));
  const second = await way(limiter.acquire("unknown", never));
  const third = limiter.acquire("unknown", never).then(() => order.push("third"));
  const fourth = limiter.acquire("unknown", never).then(() => order.push("fourth"));
  expect([limiter.running, limiter.waiting]).toEqual([2, 2]);
  first();
  first(); // A second release has no effect.
  await third;
  expect(order).toEqual(["third"]);
  second();
  await fourth;
  expect(order).toEqual(["third", "fourth"]);
});

test("known connections start before unknown ones that came first", async () => {
  const limiter = new ConcurrencyLimiter({ ...limits, requests: 1 });
  const order: string[] = [];
  const first = await way(limiter.acquire("unknown", never));
  const wait = (name: string, connection: "known" | "unknown") =>
    way(limiter.acquire(connection, never)).then((leave) => {
      order.push(name);
      leave();
    });
  const all = [wait("unknown", "unknown"), wait("known", "known"), wait("later unknown", "unknown")];
  first();
  await Promise.all(all);
  expect(order).toEqual(["known", "unknown", "later unknown"]);
});

test("a full queue rejects requests; unknown connections do not fill the queue of known ones", async () => {
  const limiter = new ConcurrencyLimiter({ requests: 1, bytes: 100, waiting: 1 });
  await limiter.acquire("unknown", never);
  void limiter.acquire("unknown", never);
  expect(await limiter.acquire("unknown", never)).toBe("full");
  void limiter.acquire("known", never);
  expect(limiter.waiting).toBe(2);
  expect(await limiter.acquire("known", never)).toBe("full");
});

test("an aborted request leaves the queue, and those behind it advance", async () => {
  const limiter = new ConcurrencyLimiter({ requests: 1, bytes: 100, waiting: 10 });
  const leave = await way(limiter.acquire("unknown", never));
  const ending = new AbortController();
  const blocked = limiter.acquire("unknown", ending.signal);
  const behind = limiter.acquire("unknown", never);
  ending.abort(new Error("too late"));
  await expect(blocked).rejects.toThrow("too late");
  leave();
  await behind;
  expect([limiter.running, limiter.waiting]).toEqual([1, 0]);
  await expect(limiter.acquire("known", AbortSignal.abort(new Error("never began")))).rejects.toThrow("never began");
});

test("at random: the limit holds, and at the end no request runs or waits", async () => {
  const step = fc.record({
    connection: fc.constantFrom("known" as const, "unknown" as const),
    action: fc.constantFrom("enter", "leave", "abort"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const limiter = new ConcurrencyLimiter({ requests: 3, bytes: 100, waiting: 5 });
      const inside: (() => void)[] = [];
      const aborts: AbortController[] = [];
      for (const { connection, action } of steps) {
        if (action === "enter") {
          const ending = new AbortController();
          aborts.push(ending);
          limiter.acquire(connection, ending.signal).then(
            (leave) => leave !== "full" && inside.push(leave),
            () => undefined,
          );
        } else if (action === "leave") inside.shift()?.();
        else aborts.shift()?.abort();
        await Promise.resolve();
        await Promise.resolve();
        await Promise.resolve();
        expect(limiter.running).toBe(inside.length);
        expect(inside.length).toBeLessThanOrEqual(3);
      }
      for (let rounds = 0; rounds < 80 && (limiter.running > 0 || limiter.waiting > 0); rounds++) {
        inside.shift()?.();
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect([limiter.running, limiter.waiting]).toEqual([0, 0]);
    }),
  );
});
