// Every state that one or two disturbances can lead an engine to, from several starting points, with the operator's
// real pass: each is safe (docs/design/engine.md#invariants) and from each a fair run comes to rest. `npm run explore`
// searches deeper.
import { expect, test } from "vitest";
import type { EngineStep } from "../design/step-names.ts";
import { explore } from "./engine/explorer.ts";
import { DISTURBANCES_IN_TESTS, explorationOf, PROFILE_NAMES } from "./engine/profiles.ts";
import { STEPS_TO_TAKE } from "./engine/steps.ts";

/** Mutants that survive must not take for ever. */
const maxStates = Number(process.env["EXPLORE_STATES"] ?? 1_000_000);
const visited = new Set<EngineStep>();

test.each(PROFILE_NAMES)("%s: every state is safe and comes to rest", { timeout: 240_000 }, async (name) => {
  const { states, transitions, steps, longestFairRun, complete, seconds } = await explore(
    await explorationOf(name, { disturbances: DISTURBANCES_IN_TESTS[name], maxStates }),
  );
  console.info(
    `${name}: ${states} states, ${transitions} transitions, at most ${longestFairRun} passes to rest, ${seconds.toFixed(1)} s`,
  );
  for (const step of steps) visited.add(step);
  expect(complete).toBe(true);
});

test("the explorations take every step of the transition table", () => {
  expect(STEPS_TO_TAKE.filter((step) => !visited.has(step))).toEqual([]);
});
