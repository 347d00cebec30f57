// Random walks: in whatever order events, responses and lists arrive, the cache never goes back, emits events without
// gaps, shows own writes at once, and converges to the state of the server.
import fc from "fast-check";
import { test } from "vitest";
import { type Move, WatchCacheModel } from "./watch-cache-model.ts";

const name = fc.constantFrom("a", "b");
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("write"), name, on: fc.boolean(), own: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("delete"), name, own: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("response"), which: fc.nat({ max: 5 }) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("watch"), events: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("bookmark") }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("askList") }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("takeList") }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("receiveList") }) },
);

test.each([
  { what: "all objects", selective: false },
  { what: "objects that enter and leave a selection", selective: true },
])("a cache of $what", ({ selective }) => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const model = new WatchCacheModel(selective);
      for (const one of moves) model.move(one);
      model.settle();
    }),
    { numRuns: 600 },
  );
});
