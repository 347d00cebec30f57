// Random walks with far more disturbances than the explorer's bound: long stories of edits, failures, crashes, stale
// caches and meddling, each checked at every step and brought to rest at the end.
import fc from "fast-check";
import { test } from "vitest";
import { newEngine } from "./engine/profiles.ts";
import { type Move, walk } from "./engine/walk.ts";

/** Always the same walks, so that the test is not a lottery; `WALKS=20000` takes that many new ones. */
const WALKS = process.env["WALKS"];

const pick = fc.nat({ max: 10_000 });
const of = (type: Move["type"], weight: number) => ({
  weight,
  arbitrary: fc.record({ type: fc.constant(type), pick }),
});

const move: fc.Arbitrary<Move> = fc.oneof(
  of("pass", 12),
  of("step", 6),
  of("disturb", 6),
  of("catchUp", 2),
  of("later", 1),
  of("refused", 1),
  of("lost", 1),
  of("crashBefore", 1),
  of("crashAfter", 1),
);

test("whatever happens, in whatever order, an engine is safe and comes to rest", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(0, 1, 2), fc.array(move, { minLength: 20, maxLength: 120 }), (replicas, moves) =>
      walk(newEngine({ template: "A", replicas, rollout: "graceful" }), moves),
    ),
    WALKS === undefined ? { numRuns: 1_000, seed: 20_260_101 } : { numRuns: Number(WALKS) },
  );
});
