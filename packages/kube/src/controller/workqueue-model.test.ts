// The queue compared with a simple model, a table of keys and due times, in random walks.
import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { WorkQueue } from "./workqueue.ts";

type Step =
  | { readonly type: "add"; readonly key: string; readonly delayMs: number }
  | { readonly type: "done"; readonly pick: number; readonly afterMs: number | undefined }
  | { readonly type: "fail"; readonly pick: number }
  | { readonly type: "advance"; readonly ms: number };

const key = fc.constantFrom("a", "b", "c");
const pick = fc.nat(10);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant("add" as const), key, delayMs: fc.constantFrom(0, 0, 3, 20, 100) }),
  fc.record({
    type: fc.constant("done" as const),
    pick,
    afterMs: fc.option(fc.constantFrom(0, 7, 50), { nil: undefined }),
  }),
  fc.record({ type: fc.constant("fail" as const), pick }),
  fc.record({ type: fc.constant("advance" as const), ms: fc.constantFrom(1, 5, 20, 100) }),
);

/** The expected state of a key: in work or not, and when it is due (again). */
interface Owed {
  running: boolean;
  dueMs: number;
  retries: number;
}

class Model {
  readonly keys = new Map<string, Owed>();
  #nowMs = 0;

  of(name: string): Owed {
    const known = this.keys.get(name) ?? { running: false, dueMs: Number.POSITIVE_INFINITY, retries: 0 };
    this.keys.set(name, known);
    return known;
  }

  at(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  ask(name: string, afterMs: number): void {
    const promise = this.of(name);
    promise.dueMs = Math.min(promise.dueMs, this.#nowMs + afterMs);
  }

  handedOut(name: string, dueBy: number): void {
    const promise = this.of(name);
    expect(promise.running, `${name} handed to two workers`).toBe(false);
    expect(promise.dueMs, `${name} handed out early or unasked`).toBeLessThanOrEqual(dueBy);
    promise.running = true;
    promise.dueMs = Number.POSITIVE_INFINITY;
  }

  /** While a worker is idle, no due key may be waiting. */
  expectNothingLost(idleWorkers: number): void {
    if (idleWorkers === 0) return;
    const waiting = [...this.keys].filter(([, { running, dueMs }]) => !running && dueMs <= this.#nowMs);
    expect(waiting, "due keys wait although workers are idle").toEqual([]);
  }
}

const WORKERS = 2;

test("never two workers on a key, nothing lost, the earliest request wins", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 80 }), async (steps) => {
      const clock = new ManualClock();
      const queue = new WorkQueue({ clock });
      const model = new Model();
      const held: string[] = [];
      const stop = new AbortController();
      const freed: (() => void)[] = [];
      const workers = Array.from({ length: WORKERS }, async () => {
        for await (const name of queue.take(stop.signal)) {
          model.handedOut(name, clock.monotonicMs());
          held.push(name);
          await new Promise<void>((resolve) => freed.push(resolve));
        }
      });
      const release = (at: number): { readonly name: string; readonly free: () => void } | undefined => {
        const index = held.length === 0 ? 0 : at % held.length;
        const [name] = held.splice(index, 1);
        const [free] = freed.splice(index, 1);
        return name === undefined || free === undefined ? undefined : { name, free };
      };
      for (const one of steps) {
        model.at(clock.monotonicMs());
        if (one.type === "add") {
          model.ask(one.key, one.delayMs);
          queue.add(one.key, one.delayMs);
        } else if (one.type === "advance") {
          await clock.advance(one.ms);
        } else {
          const ended = release(one.pick);
          if (ended === undefined) continue;
          const promise = model.of(ended.name);
          promise.running = false;
          if (one.type === "fail") {
            model.ask(ended.name, 5 * 2 ** promise.retries);
            promise.retries += 1;
            queue.retry(ended.name);
          } else {
            promise.retries = 0;
            if (one.afterMs !== undefined) model.ask(ended.name, one.afterMs);
            queue.done(ended.name, one.afterMs === undefined ? "onChange" : { afterMs: one.afterMs });
          }
          ended.free();
        }
        await clock.advance(0);
        model.at(clock.monotonicMs());
        model.expectNothingLost(WORKERS - held.length);
        expect(queue.running().keys).toBe(held.length);
      }
      stop.abort();
      for (const free of freed) free();
      await Promise.all(workers);
    }),
    { numRuns: 200 },
  );
});
