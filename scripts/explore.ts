// `npm run explore -- [--disturbances N] [--states N] [--profile NAME]`: the engine's state space further than the unit tests go.
// Prints figures, or the shortest story to a broken invariant.
import { parseArgs } from "node:util";
import { Violation } from "../test/model/engine/checks.ts";
import { explore } from "../test/model/engine/explorer.ts";
import { explorationOf, PROFILE_NAMES } from "../test/model/engine/profiles.ts";

const { values } = parseArgs({
  options: {
    disturbances: { type: "string", default: "3" },
    states: { type: "string", default: "1000000" },
    profile: { type: "string" },
  },
});
const bound = { disturbances: Number(values.disturbances), maxStates: Number(values.states) };
const names = PROFILE_NAMES.filter((name) => values.profile === undefined || name === values.profile);
if (names.length === 0 || !Number.isInteger(bound.disturbances) || !Number.isInteger(bound.maxStates)) {
  console.error(`usage: explore [--disturbances N] [--states N] [--profile ${PROFILE_NAMES.join("|")}]`);
  process.exit(2);
}

for (const name of names) {
  try {
    const { states, transitions, longestFairRun, complete, seconds } = await explore(await explorationOf(name, bound));
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
