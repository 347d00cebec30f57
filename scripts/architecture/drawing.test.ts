// The drawing of the folder graph, on rules made for it.
import { expect, test } from "vitest";
import { drawGraph, renderArchitecturePage } from "./drawing.ts";
import { createRules } from "./rules.ts";

const rules = createRules({
  open: "",
  sets: {},
  folders: { "src/api": "", "src/engine": "src/api", "src/cli": "src/api src/engine" },
  tests: {},
});

test("an arrow that follows from two others is left out", () => {
  expect(drawGraph(rules.folders, rules)).toBe(
    ["```mermaid", "graph TD", "  src/engine --> src/api", "  src/cli --> src/engine", "```"].join("\n"),
  );
});

test("only the generated part of the page is replaced", () => {
  const page = [
    "# Title",
    "<!-- generated from architecture.json by npm run generate -->",
    "OUTDATED",
    "<!-- end of the generated part -->",
    "text",
  ].join("\n");
  const rendered = renderArchitecturePage(page, rules);
  expect(rendered).toMatch(/^# Title\n/);
  expect(rendered).toContain("| `src/cli` | `src/api`, `src/engine` |");
  expect(rendered).not.toContain("OUTDATED");
  expect(rendered).toMatch(/\ntext$/);
  expect(renderArchitecturePage(rendered, rules)).toBe(rendered);
});

test("a page without a generated part is an error", () => {
  expect(() => renderArchitecturePage("# Title", rules)).toThrow("docs/architecture.md has no generated part");
});
