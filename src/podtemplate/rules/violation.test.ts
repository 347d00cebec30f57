import { expect, test } from "vitest";
import { type Violation, violationsText, violationText } from "./violation.ts";

const forbidden: Violation = {
  path: "spec.template.spec.hostname",
  type: "Forbidden",
  value: "h",
  detail: "not yours",
};

test.each<[Violation, string]>([
  [forbidden, "spec.template.spec.hostname: Forbidden: not yours"],
  [{ path: "a", type: "Invalid value", value: "64", detail: "too much" }, 'a: Invalid value: "64": too much'],
  [{ path: "a", type: "Invalid value", value: 64, detail: "too much" }, "a: Invalid value: 64: too much"],
  [{ path: "a", type: "Not found", value: "c", detail: "" }, 'a: Not found: "c"'],
  [{ path: "a", type: "Duplicate value", value: "engine", detail: "" }, 'a: Duplicate value: "engine"'],
  [{ path: "a", type: "Required value", value: "", detail: "name it" }, "a: Required value: name it"],
  [{ path: "a", type: "Internal error", detail: "timeout" }, "a: Internal error: timeout"],
])("one violation reads %#", (violation, want) => {
  expect(violationText(violation)).toBe(want);
});

test("one bare, several in brackets, identical ones collapsed", () => {
  const other: Violation = { path: "b", type: "Forbidden", detail: "no" };
  expect(violationsText([])).toBe("");
  expect(violationsText([forbidden])).toBe(violationText(forbidden));
  expect(violationsText([forbidden, forbidden])).toBe(violationText(forbidden));
  expect(violationsText([other, forbidden, other])).toBe(`[${violationText(other)}, ${violationText(forbidden)}]`);
});
