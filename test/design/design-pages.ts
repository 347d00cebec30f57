// Reads the tables of docs/design that define names: one table per kind and heading, the name in the first cell, files
// in the last one. Knows the form of the pages, not the content of the rules.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ROOT } from "../docs/support/pages.ts";

export type RuleKind = "step" | "invariant" | "scenario" | "decision" | "boundary";

export interface Rule {
  readonly name: string;
  readonly kind: RuleKind;
  /** The page that defines it, by its path from the root. */
  readonly page: string;
  /** By the titles of the columns. */
  readonly cells: Readonly<Record<string, string>>;
}

/** The first column of a table that defines names. */
const KIND_BY_TITLE: Readonly<Record<string, RuleKind>> = {
  Step: "step",
  Invariant: "invariant",
  Scenario: "scenario",
  Decision: "decision",
  Boundary: "boundary",
};

/** The column with the files that test a rule. */
const TESTED_BY = ["Tests", "Checked by"];

export const DESIGN_PAGES: readonly string[] = globSync("docs/design/*.md", { cwd: ROOT }).sort();

export const pageText = (page: string): string => readFileSync(join(ROOT, page), "utf8");

const cellsOf = (line: string): readonly string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

export function rulesOf(page: string, text: string): readonly Rule[] {
  const rules: Rule[] = [];
  let titles: readonly string[] = [];
  for (const line of text.split("\n")) {
    const cells = line.startsWith("|") ? cellsOf(line) : [];
    if (cells.length === 0) titles = [];
    else if (titles.length === 0) titles = cells;
    const kind = KIND_BY_TITLE[titles[0] ?? ""];
    const name = /^`(?<name>[^`]+)`$/.exec(cells[0] ?? "")?.groups?.["name"];
    if (kind === undefined || name === undefined) continue;
    rules.push({ name, kind, page, cells: Object.fromEntries(titles.map((title, at) => [title, cells[at] ?? ""])) });
  }
  return rules;
}

export const allRules = (): readonly Rule[] => DESIGN_PAGES.flatMap((page) => rulesOf(page, pageText(page)));

export const codeIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

/** Paths from the root that a text has in backticks. */
export const pathsIn = (text: string): readonly string[] =>
  codeIn(text).filter((code) => /^(?:src|test|dev|bench|scripts|charts|packages)\/\S+$/.test(code));

export const testsOf = ({ cells }: Rule): readonly string[] =>
  TESTED_BY.flatMap((title) => pathsIn(cells[title] ?? ""));

export const pageNamed = (path: string): string => basename(path, ".md");
