import { expect, test } from "vitest";
import { countOf } from "./arguments.ts";

const lanes = { name: "lanes", usual: 3, least: 1 };

test.each([
  { text: undefined, options: lanes, count: 3 },
  { text: "1", options: lanes, count: 1 },
  { text: "12", options: lanes, count: 12 },
  { text: "0", options: { ...lanes, least: 0 }, count: 0 },
])("$text is $count", ({ text, options, count }) => {
  expect(countOf(text, options)).toBe(count);
});

test.each(["0", "-1", "1.5", "two", "", " "])("--lanes=%s is an error that says what is expected", (text) => {
  expect(() => countOf(text, lanes)).toThrow(
    `--lanes=${text}: a number of lanes is expected, 1 or more, e.g. --lanes=2`,
  );
});
