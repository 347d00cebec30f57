// The cheap guard of the fleet's request budget: twenty engines under the bundled program, as the chart runs it, counted by the API
// server's audit log. Counts are asserted, looks that a slow machine repeats by the time that passed; times are only printed. `npm run bench -- fleet` measures.
import { beforeAll, expect, test } from "vitest";
import { total } from "../../bench/fleet/audit-counter.ts";
import { BUDGET } from "../../bench/fleet/budget.ts";
import { createInstance, openFleet } from "../../bench/fleet/engine-fleet.ts";
import { openHarness } from "../../bench/fleet/harness.ts";
import { startOwnOperator } from "../../bench/fleet/operator.ts";
import { measurePhases, PHASES, type Phase, type PhaseResult } from "../../bench/fleet/phases.ts";
import { describe as describeCounts } from "../../bench/fleet/table.ts";
import { untilQuiet } from "../../bench/fleet/until-quiet.ts";
import { REPEATED_EVERY_MS, REPEATED_REQUESTS } from "../harness/operator/repeated-requests.ts";

const ENGINES = 20;
const IDLE_SECONDS = 10;

let phases: Readonly<Record<Phase, PhaseResult>>;

beforeAll(async () => {
  const progress = (line: string): void => console.log(`fleet guard: ${line}`);
  await using harness = await openHarness({ progress });
  await using operator = await startOwnOperator(harness);
  await operator.untilLeading();
  await createInstance(harness);
  await using fleet = await openFleet(harness);
  // What comes with the start of the program and with the instance is no engine's.
  await untilQuiet(harness);
  phases = await measurePhases(harness, { operator, fleet }, { engines: ENGINES, idleSeconds: IDLE_SECONDS });
}, 600_000);

test.each(PHASES.map((phase) => ({ phase, most: BUDGET[phase].requests })))(
  "$phase: at most $most requests per engine (issue 10)",
  ({ phase, most }) => {
    const { wallSeconds, requests } = phases[phase];
    const { work } = requests;
    const looks =
      Object.entries(work).reduce((sum, [what, count]) => sum + (REPEATED_REQUESTS.has(what) ? count : 0), 0) / ENGINES;
    expect(looks, describeCounts(work, ENGINES)).toBeLessThanOrEqual(1 + (wallSeconds * 1_000) / REPEATED_EVERY_MS);
    const perEngine = total(work) / ENGINES - looks + Math.min(looks, 1);
    expect(perEngine, describeCounts(work, ENGINES)).toBeLessThanOrEqual(most);
  },
);

test("at rest no request is sent except for the lease", () => {
  const { work, serving, lease } = phases.idle.requests;
  expect({ work, serving }).toEqual({ work: {}, serving: {} });
  // The lease shows that an operator was running.
  expect(total(lease)).toBeGreaterThan(0);
});
