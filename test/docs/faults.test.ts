// docs/troubleshooting.md and the faults of test/cluster/faults agree: each fault has one row, each row names existing
// faults, and the signs of a row are those that the fault's test checks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FAULTS } from "../cluster/faults/all-faults.ts";
import { ROOT } from "./support/pages.ts";

interface Row {
  readonly seen: string;
  readonly next: string;
  readonly faults: readonly string[];
}

const page = readFileSync(join(ROOT, "docs/troubleshooting.md"), "utf8");
const rows = rowsOf(page);

/** Rows of the tables whose last column is `Test`. */
function rowsOf(text: string): readonly Row[] {
  const found: Row[] = [];
  let isOurs = false;
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) isOurs = false;
    else if (/\| Test \|$/.test(line)) isOurs = true;
    else if (isOurs && !/^\| ---/.test(line)) {
      const [, seen = "", , next = "", faults = ""] = line.split(/(?<!\\)\|/);
      found.push({ seen, next: next.trim(), faults: codeOf(faults) });
    }
  }
  return found;
}

function codeOf(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

test("every fault has one row, and every row a fault", () => {
  const named = rows.flatMap(({ faults }) => faults);
  expect(named.toSorted()).toEqual(FAULTS.map(({ name }) => name).toSorted());
  expect(rows.filter(({ faults }) => faults.length === 0)).toEqual([]);
});

test("names of faults are those of engines, and no two are the same", () => {
  const names = FAULTS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[a-z][a-z0-9-]{2,39}$/.test(name))).toEqual([]);
});

test("every fault has a sign", () => {
  expect(FAULTS.filter(({ signs }) => Object.keys(signs).length === 0).map(({ name }) => name)).toEqual([]);
});

test("every row has a next step", () => {
  expect(rows.filter(({ next }) => next === "")).toEqual([]);
});

describe("a row shows what the test looks for", () => {
  test.each(FAULTS)("$name", ({ name, signs }) => {
    const seen = rows.find(({ faults }) => faults.includes(name))?.seen ?? "";
    const patterns = Object.values(signs).map((pattern: RegExp) => pattern.source.replaceAll("\\", ""));
    const isLookedFor = (code: string): boolean =>
      patterns.some((pattern) => code.split("…").every((part) => pattern.includes(part.trim())));
    // People find a row by how it begins.
    expect(codeOf(seen).slice(0, 1).filter(isLookedFor), `${seen} has none of ${patterns.join(" ")}`).not.toEqual([]);
  });
});

describe("every word that can be on the screen is on the page", () => {
  const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
  const words = (text: string): readonly string[] => codeOf(text).filter((word) => /^[A-Z][A-Za-z]+$/.test(word));
  const cells = (path: string, heading: string) =>
    (read(path).split(`\n## ${heading}\n`)[1] ?? "")
      .split("\n## ")[0]
      ?.split("\n")
      .filter((line) => line.startsWith("|"))
      .map((line) => line.split("|")) ?? [];
  const conditions = cells("docs/concepts.md", "Conditions").flatMap(([, reason = ""]) => words(reason));
  const warnings = cells("docs/monitoring.md", "Events").flatMap(([, , reason = "", type = ""]) =>
    type.includes("Warning") ? words(reason) : [],
  );
  /** Nothing is wrong. */
  const FINE = new Set(["Stopped", "AllComponentsReady", "Admissible", "Disabled"]);
  const wanted = new Set(
    [...conditions, ...warnings].filter((word) => !/(?<!Not)Ready$/.test(word) && !FINE.has(word)),
  );
  const onPage = page.split("\n").flatMap(codeOf);

  test("there are many", () => {
    expect(wanted.size).toBeGreaterThan(25);
  });

  test.each([...wanted])("%s", (word) => {
    expect(onPage).toContain(word);
  });
});
