// AdmissionReview: only a review for this webhook becomes a request, and every response has the form that the API
// server reads.
import { describe, expect, test } from "vitest";
import { hookOf, parseResponse, review, UID } from "../../../test/admission/support/review-fixtures.ts";
import { ALLOW, denial, parseReview, renderReview } from "./review.ts";

const hook = hookOf("validate-engine");
const engine = { metadata: { name: "e", namespace: "ns" }, spec: {} };
const parse = (changes: Readonly<Record<string, unknown>>) =>
  parseReview(review("validate-engine", { object: engine }, changes), hook);

test("a review for this webhook becomes a request", () => {
  expect(parse({})).toEqual({
    type: "request",
    request: {
      uid: UID,
      operation: "CREATE",
      namespace: "ns",
      name: "x",
      username: "mara",
      object: engine,
      oldObject: undefined,
    },
  });
});

test("a generated name is taken from the object when it has one", () => {
  expect(parse({ name: "" })).toMatchObject({ request: { name: "e" } });
  expect(parse({ name: undefined, object: { metadata: { generateName: "e-" } } })).toMatchObject({
    request: { name: "" },
  });
});

test.each([
  {
    name: "another kind",
    changes: { kind: { group: "compute.firebolt.io", version: "v1alpha1", kind: "FireboltInstance" } },
  },
  {
    name: "another version",
    changes: { kind: { group: "compute.firebolt.io", version: "v1", kind: "FireboltEngine" } },
  },
  { name: "another group", changes: { kind: { group: "apps", version: "v1alpha1", kind: "FireboltEngine" } } },
  { name: "no kind", changes: { kind: undefined } },
  { name: "an operation of another webhook", changes: { operation: "DELETE", object: null, oldObject: engine } },
  { name: "an unknown operation", changes: { operation: "CONNECT" } },
  { name: "no operation", changes: { operation: undefined } },
  { name: "an inherited operation", changes: { operation: "constructor" } },
  { name: "a subresource", changes: { subResource: "status" } },
  { name: "no object", changes: { object: null } },
  { name: "an object that is a list", changes: { object: [engine] } },
  { name: "an update without the old object", changes: { operation: "UPDATE" } },
])("$name is denied without a validator", ({ changes }) => {
  expect(parse(changes)).toMatchObject({ type: "misdirected", uid: UID });
});

describe("malformed reviews", () => {
  test.each<{ name: string; value: unknown }>([
    { name: "null", value: null },
    { name: "a string", value: "AdmissionReview" },
    { name: "a list", value: [] },
    { name: "an empty object", value: {} },
    {
      name: "another version of the envelope",
      value: { ...review("validate-engine", {}), apiVersion: "admission.k8s.io/v1beta1" },
    },
    { name: "another kind of envelope", value: { ...review("validate-engine", {}), kind: "TokenReview" } },
    { name: "no request", value: { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" } },
    { name: "no uid", value: review("validate-engine", { object: engine }, { uid: undefined }) },
    { name: "an empty uid", value: review("validate-engine", { object: engine }, { uid: "" }) },
    { name: "a uid that is not a string", value: review("validate-engine", { object: engine }, { uid: 7 }) },
    {
      name: "a request in the prototype only",
      value: JSON.parse(
        '{"__proto__": {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {"uid": "1"}}}',
      ),
    },
  ])("$name", ({ value }) => {
    expect(parseReview(value, hook).type).toBe("malformed");
  });
});

test("an allowed response has warnings and a patch only when there are any", () => {
  expect(parseResponse(renderReview("u", ALLOW))).toEqual({ uid: "u", allowed: true });
  const patch = [{ op: "add", path: "/spec/id", value: "1" }] as const;
  const response = parseResponse(renderReview("u", { type: "allow", warnings: ["w"], patch }));
  expect(response).toMatchObject({ uid: "u", allowed: true, warnings: ["w"], patchType: "JSONPatch" });
  expect(JSON.parse(Buffer.from(response.patch ?? "", "base64").toString())).toEqual(patch);
});

test("a denial names every field, with the reasons of Kubernetes", () => {
  const verdict = denial([
    { path: "spec.a", type: "Forbidden", detail: "no" },
    { path: "spec.b", type: "Invalid value", value: "x", detail: "bad" },
  ]);
  expect(parseResponse(renderReview("u", verdict))).toEqual({
    uid: "u",
    allowed: false,
    status: {
      status: "Failure",
      code: 403,
      reason: "Forbidden",
      message: '[spec.a: Forbidden: no, spec.b: Invalid value: "x": bad]',
      details: {
        causes: [
          { reason: "FieldValueForbidden", field: "spec.a", message: "no" },
          { reason: "FieldValueInvalid", field: "spec.b", message: "bad" },
        ],
      },
    },
  });
});

test("a failed look-up is an error of the webhook, not of the request", () => {
  expect(denial([{ path: "p", type: "Internal error", detail: "away" }])).toMatchObject({ code: 500 });
});
