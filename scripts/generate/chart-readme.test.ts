// The table of values: a row per value with its default and its comment; a value without a comment is found.
import { expect, test } from "vitest";
import { renderChartReadme } from "./chart-readme.ts";

const VALUES = `# About the file.

# -- First.
first: 1
group:
  # -- Inside, over
  # two lines | with a bar.
  inside: ""
  below:
    # -- Deep.
    deep: [a]
# -- A whole.
whole:
  a: { b: true }
`;

test("every value is a row", () => {
  const rows = renderChartReadme(VALUES)
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(rows).toEqual([
    "| `first` | `1` | First. |",
    '| `group.inside` | `""` | Inside, over two lines \\| with a bar. |',
    '| `group.below.deep` | `["a"]` | Deep. |',
    '| `whole` | `{"a":{"b":true}}` | A whole. |',
  ]);
});

test("a value without a comment stops the generator", () => {
  expect(() => renderChartReadme("a:\n  b: 1\n")).toThrow('a.b has no comment that begins with "# -- "');
});
