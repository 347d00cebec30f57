import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fillHealthChecks, HEALTH_CHECKS_PAGE } from "./health-checks.ts";

const page = readFileSync(join(import.meta.dirname, "../..", HEALTH_CHECKS_PAGE), "utf8");

test("the page has the present reasons", () => expect(fillHealthChecks(page)).toBe(page));

test("a new reason reaches both tools, and nothing else changes", () => {
  const filled = fillHealthChecks(page, ["NameRejected", "OutOfLuck"]);
  expect(filled).toContain(
    "    local rejected = {\n      NameRejected = true, OutOfLuck = true, PodsNotReady = true,\n    }\n",
  );
  expect(filled).toContain("c.reason in ['NameRejected', 'OutOfLuck'])");
  expect(fillHealthChecks(filled)).toBe(page);
});

test("a page without the script or the expression is an error", () => {
  expect(() => fillHealthChecks(page.replace("local rejected", "local r"))).toThrow("has no place for reasons");
  expect(() => fillHealthChecks(page.replace("c.reason in", "c.reason =="))).toThrow("has no place for reasons");
});
