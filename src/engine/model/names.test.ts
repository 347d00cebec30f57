import { expect, test } from "vitest";
import { violationsText } from "../../podtemplate/rules/violation.ts";
import {
  configMapName,
  headlessServiceName,
  isPodName,
  nodeHost,
  podName,
  routingServiceName,
  statefulSetName,
  validateEngineName,
} from "./names.ts";

test("names of an engine's objects", () => {
  expect([
    statefulSetName("e", 3),
    podName("e", 3, 0),
    headlessServiceName("e", 3),
    configMapName("e", 3),
    routingServiceName("e"),
  ]).toEqual(["e-g3", "e-g3-0", "e-g3-hl", "e-g3-config", "e-service"]);
  expect(nodeHost({ namespace: "ns", name: "e", uid: "u" }, 3, 1)).toBe("e-g3-1.e-g3-hl.ns.svc.cluster.local");
});

test.each(["e", "my-engine", "a1", "a".repeat(45)])("%s is a good name", (name) => {
  expect(validateEngineName(name)).toEqual([]);
});

test.each(["1st", "a.b", "-a", "a-", "Abc", "a_b", ""])("%s is rejected", (name) => {
  expect(violationsText(validateEngineName(name))).toMatch(/^metadata\.name: Invalid value: ".*": must start with/);
});

test("a name of 46 characters is rejected and the reason is its length", () => {
  expect(violationsText(validateEngineName("a".repeat(46)))).toContain("has 46 characters, at most 45 are allowed");
});

test.each([
  ["e-g1-0", true],
  ["e-g1-12", true],
  ["e-g10-0", false],
  ["e-g1-copy", false],
  ["e-g1-00", false],
  ["my-debug-copy", false],
  [undefined, false],
])("%s is a pod of generation 1 of e: %s", (pod, want) => {
  expect(isPodName(pod, "e", 1)).toBe(want);
});
