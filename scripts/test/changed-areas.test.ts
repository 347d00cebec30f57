// Which integration tests a change runs, and that the table of areas names folders that exist.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AREA_OF, planChanged } from "./changed-areas.ts";

const ROOT = join(import.meta.dirname, "../..");
const TESTS = [
  "test/engine/drain.integration.test.ts",
  "test/engine/rollout.integration.test.ts",
  "test/wake/hold.integration.test.ts",
  "packages/kube/test/integration/client.test.ts",
];

test.each([
  { changed: ["src/engine/compute/steps/draining.ts"], areas: ["engine"], tests: TESTS.slice(0, 2) },
  { changed: ["test/engine/support/history.ts"], areas: ["engine"], tests: TESTS.slice(0, 2) },
  { changed: ["test/engine/drain.integration.test.ts"], areas: [], tests: TESTS.slice(0, 1) },
  { changed: ["src/engine/compute/steps/draining.test.ts"], areas: [], tests: [] },
  { changed: ["packages/kube/src/client/client.ts"], areas: ["packages/kube"], tests: TESTS.slice(3) },
  { changed: ["docs/rollouts.md"], areas: [], tests: [] },
])("$changed", ({ changed, areas, tests }) => {
  expect(planChanged(changed, TESTS)).toEqual({ areas, tests: [...tests].sort() });
});

test.each(Object.entries(AREA_OF))("%s and its area %s exist", (part, area) => {
  expect(existsSync(join(ROOT, part))).toBe(true);
  expect(existsSync(join(ROOT, area.includes("/") ? area : `test/${area}`))).toBe(true);
});
