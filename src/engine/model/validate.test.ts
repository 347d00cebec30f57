import { describe, expect, test } from "vitest";
import { storedClass, storedEngine } from "../../../test/engine/support/rendered-fixtures.ts";
import { violationsText } from "../../podtemplate/rules/violation.ts";
import { parseResourceBounds, type ResourceBounds, validateEngine } from "./validate.ts";

const BOUNDS: ResourceBounds = { cpu: "32", memory: "256Gi", "ephemeral-storage": "10Ti" };
const withResources = (resources: object) => ({ template: { spec: { containers: [{ name: "engine", resources }] } } });
const AT = "spec.template.spec.containers[engine].resources";

function bounds(ofEngine: object, ofClass?: object, limits = BOUNDS): string {
  return violationsText(
    validateEngine({
      engine: storedEngine(withResources(ofEngine)),
      engineClass: ofClass === undefined ? undefined : storedClass(withResources(ofClass), "big"),
      bounds: limits,
    }).bounds,
  );
}

describe("resource bounds", () => {
  test("more than the maximum is rejected", () => {
    expect(bounds({ requests: { cpu: "64" } })).toBe(
      `${AT}.requests[cpu]: Invalid value: "64": exceeds the maximum 32`,
    );
  });

  test("equal passes, however it is written", () => {
    expect(bounds({ requests: { cpu: "32000m" }, limits: { memory: "262144Mi", cpu: 32 } })).toBe("");
    expect(bounds({ limits: { cpu: "32001m" } })).toContain("exceeds the maximum 32");
  });

  test("what is inherited names the class and the way out", () => {
    expect(bounds({}, { limits: { memory: "300Gi" } })).toBe(
      `${AT}.limits[memory]: Invalid value: "300Gi": exceeds the maximum 256Gi; inherited from FireboltEngineClass "big": set resources on the engine to override it`,
    );
  });

  test("the engine's own block hides the class's, even with a claim alone", () => {
    expect(bounds({ requests: { cpu: "1" } }, { limits: { memory: "300Gi" } })).toBe("");
    expect(bounds({ claims: [{ name: "g" }] }, { limits: { memory: "300Gi" } })).toBe("");
  });

  test("bounds-sorted: requests, then limits, each sorted by dimension", () => {
    const much = { memory: "1Pi", cpu: "99", "ephemeral-storage": "1Pi" };
    const { bounds: found } = validateEngine({
      engine: storedEngine(withResources({ limits: much, requests: much })),
      engineClass: undefined,
      bounds: BOUNDS,
    });
    expect(found.map(({ path }) => path.slice(AT.length + 1))).toEqual([
      "requests[cpu]",
      "requests[ephemeral-storage]",
      "requests[memory]",
      "limits[cpu]",
      "limits[ephemeral-storage]",
      "limits[memory]",
    ]);
  });

  test("no bound, another resource or a sidecar: nothing to check", () => {
    expect(bounds({ requests: { cpu: "64" } }, undefined, {})).toBe("");
    expect(bounds({ requests: { "example.com/gpu": "64" } })).toBe("");
    const sidecar = { template: { spec: { containers: [{ name: "s", resources: { requests: { cpu: "64" } } }] } } };
    expect(validateEngine({ engine: storedEngine(sidecar), engineClass: undefined, bounds: BOUNDS }).bounds).toEqual(
      [],
    );
  });

  test("what no one can read is not within bounds", () => {
    expect(bounds({ requests: { cpu: "1e9999999" } })).toContain("exceeds the maximum 32");
  });
});

describe("bounds from the command line", () => {
  const parsed = (cpu: string) => parseResourceBounds({ cpu, memory: "", "ephemeral-storage": "" });
  test.each(["", "0", "0Gi"])("%j is no bound", (cpu) => {
    expect(parsed(cpu)).toEqual({ bounds: {}, malformed: [] });
  });

  test.each(["two", "1 Gi", "-1"])("%j is malformed", (cpu) => {
    expect(parsed(cpu).malformed).toEqual(["cpu"]);
  });

  test("a quantity is kept as written", () => {
    expect(parsed("32")).toEqual({ bounds: { cpu: "32" }, malformed: [] });
  });
});

test("name and template are judged too, the class's template is not", () => {
  const violations = validateEngine({
    engine: storedEngine({ template: { spec: { hostNetwork: true } } }, "Bad.Name"),
    engineClass: storedClass({ template: { spec: { hostPID: true } } }),
    bounds: {},
  });
  expect(violations.name).toHaveLength(1);
  expect(violations.template.map(({ path }) => path)).toEqual(["spec.template.spec.hostNetwork"]);
});

test("engine-without-spec: an engine without a spec breaks no rule", () => {
  expect(validateEngine({ engine: { metadata: { name: "e" } }, engineClass: undefined, bounds: BOUNDS })).toEqual({
    name: [],
    template: [],
    bounds: [],
  });
});
