// Messages of the API server as a plan shows them: path and reason, never a value.
import { KubeApiError, type StatusCause } from "@firebolt-operator/kube";
import { describe, expect, test } from "vitest";
import { isSchemaMismatch, rejectionLines, safeViolationText, withoutValues } from "./without-values.ts";

const error = (status: number, message: string, causes: readonly StatusCause[] = []) =>
  new KubeApiError("PATCH /x", status, { reason: "Invalid", message, details: { causes: [...causes] } });

const LIVE = {
  spec: {
    customEngineConfig: { storage: { key: "config-secret" } },
    template: { spec: { containers: [{ name: "engine", args: ["--token=arg-secret"] }] } },
  },
};

describe("a misspelled field", () => {
  test("of a patch: the API server quotes the whole live object", () => {
    const quoted = JSON.stringify(JSON.stringify(LIVE));
    const message = `Invalid value: ${quoted}: strict decoding error: unknown field "spec.rolout", unknown field "spec.template.x"`;
    expect(
      rejectionLines(error(422, `"" is invalid: patch: ${message}`, [{ field: "patch", message }]), [LIVE]),
    ).toEqual(["spec.rolout: unknown field", "spec.template.x: unknown field"]);
  });

  test.each([
    [
      "failed to create typed patch object (ns/e; compute.firebolt.io/v1alpha1, Kind=FireboltEngine): .spec.rolout: field not declared in schema",
      ["spec.rolout: unknown field"],
    ],
    [
      'failed to create typed patch object (ns/e; compute.firebolt.io/v1alpha1, Kind=FireboltEngine): errors:\n  .spec.rolout: field not declared in schema\n  .spec.template.spec.containers[name="engine"].imag: field not declared in schema',
      ["spec.rolout: unknown field", 'spec.template.spec.containers[name="engine"].imag: unknown field'],
    ],
    [
      "failed to create typed patch object (ns/e; x, Kind=FireboltEngine): .spec.template.spec.containers: expected list, got &{map[value:config-secret]}",
      ["spec.template.spec.containers: expected list"],
    ],
  ])("of a server-side apply: %s", (message, problems) => {
    expect(isSchemaMismatch(message)).toBe(true);
    expect(rejectionLines(error(500, message), [LIVE])).toEqual(problems);
  });
});

test("rules that were not checked are a remark, not a field named <nil>", () => {
  const causes = [
    { field: "spec.autoStop.activeReplicas", message: "Required value" },
    {
      field: "<nil>",
      message:
        "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    },
  ];
  expect(rejectionLines(error(422, "x", causes), [])).toEqual([
    "spec.autoStop.activeReplicas: Required value",
    "more fields may be wrong: some rules are checked only once these are corrected",
  ]);
});

test.each([
  ["spec.x: Invalid value: \"hunter2\": should match '^a$'", "spec.x: Invalid value: should match '^a$'"],
  ['spec.x: Invalid value: "a \\"quoted\\" one": too long', "spec.x: Invalid value: too long"],
  [
    'spec.x: Unsupported value: "y": supported values: "a", "b"',
    'spec.x: Unsupported value: supported values: "a", "b"',
  ],
  ['env: Invalid value: map[string]interface {}{"name":"A", "value":"s"}: no', "env: Invalid value: no"],
  ['env: Duplicate value: {"name":"A","value":"s"}', "env: Duplicate value"],
  ["spec.replicas: Invalid value: -1: must not be negative", "spec.replicas: Invalid value: -1: must not be negative"],
])("%s", (text, shown) => {
  expect(withoutValues(text)).toBe(shown);
});

test("numbers are kept, except in free fields", () => {
  expect(withoutValues("spec.replicas: Invalid value: 4711: too many")).toContain("4711");
  expect(withoutValues("spec.customEngineConfig.pin: Invalid value: 4711: too many")).toBe(
    "spec.customEngineConfig.pin: Invalid value: too many",
  );
  expect(withoutValues("spec.customEngineConfig: Invalid value: -1.5e9")).toBe(
    "spec.customEngineConfig: Invalid value",
  );
});

test("a webhook that quotes values in a message of its own", () => {
  const message = 'admission webhook "policy" denied the request: --token=arg-secret is not allowed (config-secret)';
  expect(rejectionLines(error(403, message), [LIVE]).join()).toBe(
    'admission webhook "policy" denied the request: (hidden) is not allowed ((hidden))',
  );
});

test.each([
  [
    { path: "spec.replicas", type: "Invalid value", value: 9, detail: "too many" },
    "spec.replicas: Invalid value: 9: too many",
  ],
  [{ path: "spec.engineClassRef", type: "Not found", value: "x", detail: "" }, 'spec.engineClassRef: Not found: "x"'],
  [
    { path: "spec.customEngineConfig.pin", type: "Invalid value", value: 4711, detail: "no" },
    "spec.customEngineConfig.pin: Invalid value: no",
  ],
  [{ path: "spec.env", type: "Invalid value", value: "s3cret", detail: "no" }, "spec.env: Invalid value: no"],
] as const)("%o", (violation, text) => {
  expect(safeViolationText(violation)).toBe(text);
});
