import { expect, test } from "vitest";
import { minorOf, ownCommand } from "./server-version.ts";

test.each([
  [{ major: "1", minor: "29" }, 29],
  [{ major: "1", minor: "29+" }, 29],
  [{ major: "1", minor: "36" }, 36],
  [{ major: "2", minor: "0" }, undefined],
  [{ major: "1", minor: "" }, undefined],
  [{ major: "1" }, undefined],
  ["v1.36.3", undefined],
  [undefined, undefined],
])("sleep-by-own-image: the minor version in %j is %j", (version, minor) => {
  expect(minorOf(version)).toBe(minor);
});

test("the sleep subcommand runs with the same program and script", () => {
  expect(ownCommand("/nodejs/bin/node", "/usr/lib/firebolt-operator/firebolt-operator.mjs")).toEqual([
    "/nodejs/bin/node",
    "/usr/lib/firebolt-operator/firebolt-operator.mjs",
    "sleep",
  ]);
  expect(ownCommand("/usr/bin/firebolt-operator", undefined)).toEqual(["/usr/bin/firebolt-operator", "sleep"]);
});
