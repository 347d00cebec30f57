import { expect, test } from "vitest";
import { PLAIN } from "../../src/plugin/terminal/style.ts";
import { progressLine } from "./progress-output.ts";

test("lines are aligned, and further lines are indented below the first", () => {
  expect([progressLine(3.25, "a", PLAIN), progressLine(123, "b\nc", PLAIN)].join("\n")).toBe(
    "   3.3 s  a\n 123.0 s  b\n          c",
  );
});
