// The gate never lets in more than its limit, loses nobody in line, and keeps the order: known connections first.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Gate } from "./gate.ts";

const never = new AbortController().signal;
const way = async (entered: Promise<(() => void) | "full">): Promise<() => void> => {
  const leave = await entered;
  if (leave === "full") throw new Error("full");
  return leave;
};
const limits = { requests: 2, bytes: 100, waiting: 10 };

test("whoever does not fit waits, in order, and enters when somebody leaves", async () => {
  const gate = new Gate(limits);
  const order: string[] = [];
  const first = await way(gate.enter("stranger", never));
  const second = await way(gate.enter("stranger", never));
  const third = gate.enter("stranger", never).then(() => order.push("third"));
  const fourth = gate.enter("stranger", never).then(() => order.push("fourth"));
  expect([gate.inside, gate.waiting]).toEqual([2, 2]);
  first();
  first(); // Leaving twice counts once.
  await third;
  expect(order).toEqual(["third"]);
  second();
  await fourth;
  expect(order).toEqual(["third", "fourth"]);
});

test("known connections enter ahead of strangers that came first", async () => {
  const gate = new Gate({ ...limits, requests: 1 });
  const order: string[] = [];
  const first = await way(gate.enter("stranger", never));
  const wait = (name: string, standing: "known" | "stranger") =>
    way(gate.enter(standing, never)).then((leave) => {
      order.push(name);
      leave();
    });
  const all = [wait("stranger", "stranger"), wait("known", "known"), wait("later stranger", "stranger")];
  first();
  await Promise.all(all);
  expect(order).toEqual(["known", "stranger", "later stranger"]);
});

test("past the end of the line requests are turned away; strangers do not fill the line of known connections", async () => {
  const gate = new Gate({ requests: 1, bytes: 100, waiting: 1 });
  await gate.enter("stranger", never);
  void gate.enter("stranger", never);
  expect(await gate.enter("stranger", never)).toBe("full");
  void gate.enter("known", never);
  expect(gate.waiting).toBe(2);
  expect(await gate.enter("known", never)).toBe("full");
});

test("giving up leaves the line, and lets those behind move on", async () => {
  const gate = new Gate({ requests: 1, bytes: 100, waiting: 10 });
  const leave = await way(gate.enter("stranger", never));
  const ending = new AbortController();
  const blocked = gate.enter("stranger", ending.signal);
  const behind = gate.enter("stranger", never);
  ending.abort(new Error("too late"));
  await expect(blocked).rejects.toThrow("too late");
  leave();
  await behind;
  expect([gate.inside, gate.waiting]).toEqual([1, 0]);
  await expect(gate.enter("known", AbortSignal.abort(new Error("never began")))).rejects.toThrow("never began");
});

test("at random: the limit holds, and in the end nobody is inside or waiting", async () => {
  const step = fc.record({
    standing: fc.constantFrom("known" as const, "stranger" as const),
    action: fc.constantFrom("enter", "leave", "abort"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const gate = new Gate({ requests: 3, bytes: 100, waiting: 5 });
      const inside: (() => void)[] = [];
      const aborts: AbortController[] = [];
      for (const { standing, action } of steps) {
        if (action === "enter") {
          const ending = new AbortController();
          aborts.push(ending);
          gate.enter(standing, ending.signal).then(
            (leave) => leave !== "full" && inside.push(leave),
            () => undefined,
          );
        } else if (action === "leave") inside.shift()?.();
        else aborts.shift()?.abort();
        await Promise.resolve();
        await Promise.resolve();
        await Promise.resolve();
        expect(gate.inside).toBe(inside.length);
        expect(inside.length).toBeLessThanOrEqual(3);
      }
      for (let rounds = 0; rounds < 80 && (gate.inside > 0 || gate.waiting > 0); rounds++) {
        inside.shift()?.();
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect([gate.inside, gate.waiting]).toEqual([0, 0]);
    }),
  );
});
