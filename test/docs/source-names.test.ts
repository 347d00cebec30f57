// The tables of the documentation, compared with the source: reasons, events, chart values and flags that a page names
// exist, and every event that the operator can record is listed.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { MANAGER_FLAGS } from "../../src/cli/flags/manager-flags.ts";
import { WAKE_AGENT_FLAGS } from "../../src/cli/flags/wake-agent-flags.ts";
import { ROOT, RUN_PAGES } from "./support/pages.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const source = globSync(["src/**/*.ts", "packages/*/src/**/*.ts"], { cwd: ROOT })
  .filter((file) => !file.endsWith(".test.ts"))
  .map(read)
  .join("\n");

/** The part of a page below a heading. */
function section(page: string, heading: string): string {
  const [, text] = read(page).split(`\n## ${heading}\n`);
  if (text === undefined) throw new Error(`${page} has no heading "${heading}"`);
  return text.split("\n## ")[0] ?? "";
}

/** Words such as `PodsNotReady` in a column of every table. */
function tokens(text: string, column: number): readonly string[] {
  const cells = text.split("\n").flatMap((line) => (line.startsWith("|") ? [line.split("|")[column] ?? ""] : []));
  return [...cells.join(" ").matchAll(/`([A-Z][A-Za-z]+)`/g)].map(([, word = ""]) => word);
}

describe("reasons and events", () => {
  const conditions = section("docs/concepts.md", "Conditions");
  const events = section("docs/monitoring.md", "Events");

  test.each([...new Set([...tokens(conditions, 1), ...tokens(events, 2)])].filter((word) => !/Ready$/.test(word)))(
    "%s is one of the operator's",
    (word) => {
      expect(source).toContain(`"${word}"`);
    },
  );

  test("every event of engines, instances and classes is documented", () => {
    const recorded = [...source.matchAll(/(?:rollout|warning)\("([A-Z]\w+)"|reason: "([A-Z]\w+)", note/g)].map(
      ([, helper, literal]) => helper ?? literal,
    );
    expect(recorded.length).toBeGreaterThan(8);
    expect(recorded.filter((word) => !tokens(events, 2).includes(word ?? ""))).toEqual([]);
  });
});

describe("values and flags", () => {
  const values: unknown = parse(read("charts/firebolt-operator/values.yaml"));
  const exists = (path: string): boolean => {
    let at: unknown = values;
    for (const key of path.split(".")) {
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return false;
      at = Reflect.get(at, key);
    }
    return true;
  };
  const roots = new Set(Object.keys(values as object));

  test.each(RUN_PAGES.filter((page) => page !== "docs/quickstart.md"))("values of the chart in %s", (page) => {
    const named = [...read(page).matchAll(/`([a-z][A-Za-z]+(?:\.[a-zA-Z]+)+)(?:=[^`]*)?`/g)].map(
      ([, path = ""]) => path,
    );
    // Values of alerts are free, and `crds.keep` is one of the other chart's.
    const ours = named.filter(
      (path) => roots.has(path.split(".")[0] ?? "") && !path.startsWith("prometheusRule.rules."),
    );
    expect(ours.filter((path) => !exists(path) && !isField(path))).toEqual([]);
  });

  test.each(RUN_PAGES.filter((page) => page !== "docs/quickstart.md"))("flags of the operator in %s", (page) => {
    const named = [
      ...read(page).matchAll(/`--((?:engine|default|wake|metrics|webhook|enable|leader|component)-[a-z0-9-]+)/g),
    ];
    const known = new Set([...Object.keys(MANAGER_FLAGS), ...Object.keys(WAKE_AGENT_FLAGS)]);
    expect(named.map(([, flag = ""]) => flag).filter((flag) => !known.has(flag))).toEqual([]);
  });
});

/** `metadata.generation` and its like are fields of objects, whatever the chart calls its values. */
function isField(path: string): boolean {
  return path.startsWith("metadata.");
}
