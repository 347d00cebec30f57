import { expect, test } from "vitest";
import { mergeValues } from "./values.ts";

test("objects merge, everything else is replaced, and neither side is changed", () => {
  const base = { webhook: { enabled: true, port: 9443 }, args: ["a"], level: "info" };
  const over = { webhook: { enabled: false }, args: ["b"], level: { deep: 1 } };
  expect(mergeValues(base, over)).toEqual({
    webhook: { enabled: false, port: 9443 },
    args: ["b"],
    level: { deep: 1 },
  });
  expect(base.webhook.enabled).toBe(true);
});
