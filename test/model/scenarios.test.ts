// docs/scenarios.md promises a test for every scenario. This keeps the promise: each scenario has a row, and
// each file that a row names cites the scenario in the name of a test.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const SCENARIOS = Array.from({ length: 88 }, (_, index) => `S${index + 1}`);

interface Row {
  readonly scenario: string;
  readonly files: readonly string[];
}

function readRows(): readonly Row[] {
  const page = readFileSync(join(ROOT, "docs/scenarios.md"), "utf8");
  return page.split("\n").flatMap((line) => {
    const [, scenario = "", , files = ""] = line.split("|").map((cell) => cell.trim());
    return /^S\d+$/.test(scenario)
      ? [{ scenario, files: [...files.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file) }]
      : [];
  });
}

const rows = readRows();

/** As a number of its own: S4 is not cited by S42. Only text in quotes can be the name of a test. */
function cites(file: string, scenario: string): boolean {
  const cited = new RegExp(`["'\`][^"'\`]*\\b${scenario}\\b`);
  return existsSync(join(ROOT, file)) && cited.test(readFileSync(join(ROOT, file), "utf8"));
}

test("every scenario has one row, in order", () => {
  expect(rows.map(({ scenario }) => scenario)).toEqual(SCENARIOS);
});

test.each(rows)("$scenario is cited by a test in every file that its row names", ({ scenario, files }) => {
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(cites(file, scenario), `${file} cites ${scenario}`).toBe(true);
});

test("a scenario that nobody cites would be noticed", () => {
  expect(cites("test/model/scenarios.test.ts", ["S", "99"].join(""))).toBe(false);
  expect(cites("test/integration/engine-lifecycle.test.ts", "created-from-nothing")).toBe(true);
  expect(cites("test/integration/engine-absent.test.ts", "created-from-nothing")).toBe(false);
});
