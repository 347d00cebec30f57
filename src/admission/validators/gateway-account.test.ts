// The restriction of gateway accounts, called directly. An integration test shows that the API server calls it for
// exactly these changes.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../podtemplate/shapes/shape.ts";
import type { AdmissionRequest } from "../review/review.ts";
import { fencedChanges, isGatewayAccount } from "./gateway-account.ts";

const ACCOUNT = "system:serviceaccount:ns:lake-gateway";
const STAMP = "firebolt.io/wake-requested";
const stored: JsonObject = {
  apiVersion: "compute.firebolt.io/v1alpha1",
  kind: "FireboltEngine",
  metadata: { name: "e", generation: 1, resourceVersion: "1", labels: { a: "b" }, annotations: { x: "y" } },
  spec: { replicas: 0 },
  status: { phase: "stopped" },
};
const request = (object: JsonObject, username = ACCOUNT): AdmissionRequest => ({
  uid: "u",
  operation: "UPDATE",
  namespace: "ns",
  name: "e",
  username,
  object,
  oldObject: stored,
});
const withMetadata = (change: object): JsonObject => ({
  ...stored,
  metadata: { ...Object(stored["metadata"]), ...change },
});
const paths = (object: JsonObject) => fencedChanges(request(object)).map(({ path }) => path);

test.each([
  { username: ACCOUNT, want: true },
  { username: "system:serviceaccount:other:lake-gateway", want: false },
  { username: "system:serviceaccount:ns:firebolt-operator", want: false },
  { username: "system:serviceaccount:ns:lake-gateway-admin", want: false },
  { username: "lake-gateway", want: false },
  { username: "", want: false },
])("$username: $want", ({ username, want }) => {
  expect(isGatewayAccount(request(stored, username))).toBe(want);
});

describe("what a gateway may change", () => {
  test("adding, changing and removing the wake annotation, and fields that the API server maintains", () => {
    const bookkeeping = { resourceVersion: "2", generation: 2, managedFields: [{ manager: "agent" }] };
    for (const annotations of [{ x: "y", [STAMP]: "2026-01-01T00:00:00Z" }, { x: "y" }])
      expect(paths(withMetadata({ ...bookkeeping, annotations }))).toEqual([]);
  });

  test.each([
    { what: "the spec", object: { ...stored, spec: { replicas: 1 } }, want: ["spec"] },
    { what: "a spec taken away", object: { ...stored, spec: undefined }, want: ["spec"] },
    { what: "labels", object: withMetadata({ labels: {} }), want: ["metadata.labels"] },
    { what: "finalizers", object: withMetadata({ finalizers: ["a/b"] }), want: ["metadata.finalizers"] },
    { what: "owners", object: withMetadata({ ownerReferences: [{}] }), want: ["metadata.ownerReferences"] },
    {
      what: "another annotation beside the stamp",
      object: withMetadata({ annotations: { x: "z", [STAMP]: "now" } }),
      want: ["metadata.annotations[x]"],
    },
    { what: "an annotation taken away", object: withMetadata({ annotations: {} }), want: ["metadata.annotations[x]"] },
  ])("not $what", ({ object, want }) => {
    expect(paths(object)).toEqual(want);
    const [violation] = fencedChanges(request(object));
    expect(violation?.detail).toContain(`${ACCOUNT} is the service account of a gateway`);
    expect(violation?.detail).toContain(`may change only metadata.annotations[${STAMP}];`);
  });
});
