// The gate never lets in more than its limits, loses nobody in line, and keeps the order.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Gate } from "./gate.ts";

const never = new AbortController().signal;
const way = async (entered: Promise<(() => void) | "full">): Promise<() => void> => {
  const leave = await entered;
  if (leave === "full") throw new Error("full");
  return leave;
};

test("whoever does not fit waits, in order, and enters when somebody leaves", async () => {
  const gate = new Gate({ requests: 2, bytes: 100, waiting: 10 });
  const order: string[] = [];
  const first = await way(gate.enter(10, never));
  const second = await way(gate.enter(10, never));
  const third = gate.enter(10, never).then(() => order.push("third"));
  const fourth = gate.enter(10, never).then(() => order.push("fourth"));
  expect([gate.inside, gate.waiting]).toEqual([2, 2]);
  first();
  first(); // Leaving twice counts once.
  await third;
  expect(order).toEqual(["third"]);
  second();
  await fourth;
  expect(order).toEqual(["third", "fourth"]);
});

test("bytes count as well; a body larger than all of them goes alone", async () => {
  const gate = new Gate({ requests: 10, bytes: 100, waiting: 10 });
  const small = await way(gate.enter(60, never));
  const large = gate.enter(500, never);
  const late = gate.enter(1, never);
  expect(gate.waiting).toBe(2);
  small();
  const leave = await way(large);
  expect(gate.inside).toBe(1);
  leave();
  await late;
});

test("past the end of the line requests are turned away", async () => {
  const gate = new Gate({ requests: 1, bytes: 100, waiting: 1 });
  await gate.enter(1, never);
  void gate.enter(1, never);
  expect(await gate.enter(1, never)).toBe("full");
});

test("giving up leaves the line, and lets those behind move on", async () => {
  const gate = new Gate({ requests: 5, bytes: 100, waiting: 10 });
  await gate.enter(90, never);
  const ending = new AbortController();
  const blocked = gate.enter(50, ending.signal);
  const behind = gate.enter(5, never);
  ending.abort(new Error("too late"));
  await expect(blocked).rejects.toThrow("too late");
  await behind;
  expect([gate.inside, gate.waiting]).toEqual([2, 0]);
  await expect(gate.enter(90, AbortSignal.abort(new Error("never began")))).rejects.toThrow("never began");
});

test("at random: limits hold, and in the end nobody is inside or waiting", async () => {
  const step = fc.record({ bytes: fc.nat(80), action: fc.constantFrom("enter", "leave", "abort") });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const gate = new Gate({ requests: 3, bytes: 100, waiting: 5 });
      const inside: { bytes: number; leave: () => void }[] = [];
      const aborts: AbortController[] = [];
      for (const { bytes, action } of steps) {
        if (action === "enter") {
          const ending = new AbortController();
          aborts.push(ending);
          gate.enter(bytes, ending.signal).then(
            (leave) => leave !== "full" && inside.push({ bytes, leave }),
            () => undefined,
          );
        } else if (action === "leave") inside.shift()?.leave();
        else aborts.shift()?.abort();
        await Promise.resolve();
        await Promise.resolve();
        await Promise.resolve();
        expect(gate.inside).toBe(inside.length);
        expect(inside.length).toBeLessThanOrEqual(3);
        if (inside.length > 1) expect(inside.reduce((sum, one) => sum + one.bytes, 0)).toBeLessThanOrEqual(100);
      }
      for (let rounds = 0; rounds < 80 && (gate.inside > 0 || gate.waiting > 0); rounds++) {
        inside.shift()?.leave();
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect([gate.inside, gate.waiting]).toEqual([0, 0]);
    }),
  );
});
