// Every state that one or two disturbances can lead an engine to, from several starting points, with the operator's real pass: each is
// safe (docs/design/engine.md#invariants) and from each a fair run comes to rest. `npm run explore` goes deeper.
import { expect, test } from "vitest";
import { explore } from "./engine/explorer.ts";
import { DISTURBANCES_IN_TESTS, explorationOf, PROFILE_NAMES } from "./engine/profiles.ts";
import { ROWS } from "./engine/rows.ts";

/** Mutants that survive must not take for ever. */
const maxStates = Number(process.env["EXPLORE_STATES"] ?? 1_000_000);
const visited = new Set<string>();

test.each(PROFILE_NAMES)("%s: every state is safe and comes to rest", { timeout: 240_000 }, async (name) => {
  const { states, transitions, rows, longestFairRun, complete, seconds } = await explore(
    await explorationOf(name, { disturbances: DISTURBANCES_IN_TESTS[name], maxStates }),
  );
  console.info(
    `${name}: ${states} states, ${transitions} transitions, at most ${longestFairRun} passes to rest, ${seconds.toFixed(1)} s`,
  );
  for (const row of rows) visited.add(row);
  expect(complete).toBe(true);
});

test("the explorations take every step of the transition table", () => {
  expect(ROWS.filter((row) => !visited.has(row))).toEqual([]);
});
