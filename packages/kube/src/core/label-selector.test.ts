import { describe, expect, test } from "vitest";
import { LabelSelectorError, matchesLabels, parseLabelSelector } from "./label-selector.ts";

describe("matching", () => {
  const labels = { app: "web", tier: "front", "example.com/part": "a", empty: "" };
  test.each([
    ["", true],
    ["app=web", true],
    ["app==web", true],
    [" app = web , tier = front ", true],
    ["app=api", false],
    ["app!=api", true],
    ["app!=web", false],
    ["missing!=x", true],
    ["app in (api, web)", true],
    ["app in (api)", false],
    ["missing in (x)", false],
    ["app notin (api,db)", true],
    ["app notin (web)", false],
    ["missing notin (x)", true],
    ["app", true],
    ["missing", false],
    ["!missing", true],
    ["!app", false],
    ["example.com/part in(a,b),!missing", true],
    ["empty=", true],
    ["empty in ()", true],
    ["app=", false],
    ["in in (x)", false],
    ["constructor", false],
    ["app=web,tier=back", false],
  ])("%j selects: %j", (selector, want) => {
    expect(matchesLabels(parseLabelSelector(selector), labels)).toBe(want);
  });

  test("an object without labels satisfies only the negative requirements", () => {
    expect(matchesLabels(parseLabelSelector("!a,b!=c,d notin (e)"), undefined)).toBe(true);
    expect(matchesLabels(parseLabelSelector("a"), undefined)).toBe(false);
  });
});

describe("rejecting", () => {
  test.each([
    ["app=web,", "expected a label key", ""],
    ["=web", "expected a label key", "=web"],
    ["app=web=x", "expected a comma or the end", "=x"],
    ["app in web", "expected an opening parenthesis", "web"],
    ["app in (a b)", "expected a comma or a closing parenthesis", "b)"],
    ["app in (a", "expected a comma or a closing parenthesis", ""],
    ["replicas>3", "expected a comma or the end", ">3"],
    ["-app=web", "expected a label key", "-app=web"],
    ["app=we$b", "expected a label value", "we$b"],
    ["Example.COM/app=x", "expected a label key", "Example.COM/app=x"],
    [`app=${"x".repeat(64)}`, "expected a label value", "x".repeat(64)],
    ["!app=web", "expected a comma or the end", "=web"],
  ])("%j: %s", (selector, problem, offending) => {
    const refused = (): unknown => parseLabelSelector(selector);
    expect(refused).toThrow(LabelSelectorError);
    expect(refused).toThrow(`${problem} at ${JSON.stringify(offending)}`);
  });
});
