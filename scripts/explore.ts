// `npm run explore -- [--disturbances N] [--states N] [--profile NAME]`: the engine's state space further than the unit tests go.
// Without a number, one disturbance more than there. Prints figures, or the shortest story to a broken invariant.
import { parseArgs } from "node:util";
import { Violation } from "../test/model/engine/checks.ts";
import { explore } from "../test/model/engine/explorer.ts";
import { DISTURBANCES_IN_TESTS, explorationOf, PROFILE_NAMES } from "../test/model/engine/profiles.ts";

const { values } = parseArgs({
  options: {
    disturbances: { type: "string" },
    states: { type: "string", default: "1000000" },
    profile: { type: "string" },
  },
});
const fixed = values.disturbances === undefined ? undefined : Number(values.disturbances);
const maxStates = Number(values.states);
const names = PROFILE_NAMES.filter((name) => values.profile === undefined || name === values.profile);
if (names.length === 0 || !Number.isInteger(fixed ?? 0) || !Number.isInteger(maxStates)) {
  console.error(`usage: explore [--disturbances N] [--states N] [--profile ${PROFILE_NAMES.join("|")}]`);
  process.exit(2);
}

for (const name of names) {
  try {
    const disturbances = fixed ?? DISTURBANCES_IN_TESTS[name] + 1;
    const { states, transitions, longestFairRun, complete, seconds } = await explore(
      await explorationOf(name, { disturbances, maxStates }),
    );
    const extent = complete ? "complete" : "cut";
    console.info(
      `${name}: ${states} states (${extent}), ${transitions} transitions, at most ${longestFairRun} passes to rest, ${seconds.toFixed(1)} s`,
    );
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    console.error(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
}
