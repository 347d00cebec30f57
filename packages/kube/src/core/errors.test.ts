// Classifies errors, on bodies as a kube-apiserver 1.36 sends them
// (packages/kube/test/integration/client-rejections.test.ts produces the same ones on a running server).
import { describe, expect, test } from "vitest";
import { apiError } from "../client/api-response.ts";
import { isConflict, isFieldConflict, isRejection, KubeConnectionError, KubeTimeoutError } from "./errors.ts";

interface Body {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: object;
}

/** The error that a call rejects with, from the body on the wire. */
function rejected(body: Body) {
  const text = JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...body });
  return apiError("POST /api/v1/namespaces/ns/configmaps", { status: body.code, retryAfter: undefined, body: text }, 0);
}

const POLICY = "ValidatingAdmissionPolicy 'labels' with binding 'labels' denied request: not in this cluster";
const UNREACHABLE =
  'failed calling webhook "nowhere.example.com": failed to call webhook: Post "https://127.0.0.1:1/?timeout=5s": ' +
  "dial tcp 127.0.0.1:1: connect: connection refused";

const REFUSALS: readonly (readonly [string, Body])[] = [
  [
    "an object over quota",
    {
      code: 403,
      reason: "Forbidden",
      message:
        'configmaps "a" is forbidden: exceeded quota: none, requested: count/configmaps=1, used: count/configmaps=0, limited: count/configmaps=0',
      details: { name: "a", kind: "configmaps" },
    },
  ],
  [
    "a ValidatingAdmissionPolicy",
    {
      code: 422,
      reason: "Invalid",
      message: `configmaps "a" is forbidden: ${POLICY}`,
      details: { name: "a", kind: "configmaps", causes: [{ message: POLICY }] },
    },
  ],
  [
    "a ValidatingAdmissionPolicy with the reason Forbidden",
    {
      code: 403,
      reason: "Forbidden",
      message: `configmaps "a" is forbidden: ${POLICY}`,
      details: { name: "a", kind: "configmaps", causes: [{ message: POLICY }] },
    },
  ],
  [
    "a webhook that cannot be called",
    {
      code: 500,
      reason: "InternalError",
      message: `Internal error occurred: ${UNREACHABLE}`,
      details: { causes: [{ message: UNREACHABLE }] },
    },
  ],
  [
    "an invalid field",
    {
      code: 422,
      reason: "Invalid",
      message:
        'ConfigMap "a" is invalid: data[no/slash]: Invalid value: "no/slash": a valid config key must consist of …',
      details: {
        name: "a",
        kind: "ConfigMap",
        causes: [{ reason: "FieldValueInvalid", message: 'Invalid value: "no/slash": …', field: "data[no/slash]" }],
      },
    },
  ],
  [
    "an undecodable object",
    {
      code: 400,
      reason: "BadRequest",
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    },
  ],
  [
    "a missing permission",
    {
      code: 403,
      reason: "Forbidden",
      message:
        'configmaps is forbidden: User "nobody" cannot create resource "configmaps" in API group "" in the namespace "ns"',
      details: { kind: "configmaps" },
    },
  ],
];

const CHANGED: Body = {
  code: 409,
  reason: "Conflict",
  message:
    'Operation cannot be fulfilled on serviceaccounts "taken": the object has been modified; please apply your changes to the latest version and try again',
  details: { name: "taken", kind: "serviceaccounts" },
};
const OWNED: Body = {
  code: 409,
  reason: "Conflict",
  message: 'Apply failed with 1 conflict: conflict with "first": .data.a',
  details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "first"', field: ".data.a" }] },
};
const TAKEN: Body = { code: 409, reason: "AlreadyExists", message: 'serviceaccounts "taken" already exists' };

const OTHERS: readonly (readonly [string, Body])[] = [
  [
    "a namespace that is being deleted",
    {
      code: 403,
      reason: "Forbidden",
      message:
        'configmaps "a" is forbidden: unable to create new content in namespace ns because it is being terminated',
      details: {
        name: "a",
        kind: "configmaps",
        causes: [
          { reason: "NamespaceTerminating", message: "namespace ns is being terminated", field: "metadata.namespace" },
        ],
      },
    },
  ],
  ["a missing namespace", { code: 404, reason: "NotFound", message: 'namespaces "ns" not found' }],
  ["a changed object", CHANGED],
  ["a field of another manager", OWNED],
  ["a taken name", TAKEN],
  ["bad credentials", { code: 401, reason: "Unauthorized", message: "Unauthorized" }],
  ["an overloaded server", { code: 429, reason: "TooManyRequests", message: "please try again later" }],
  [
    "a failing server",
    { code: 500, reason: "InternalError", message: "Internal error occurred: etcdserver: leader changed" },
  ],
  ["a server without its storage", { code: 503, reason: "ServiceUnavailable", message: "etcdserver: no leader" }],
];

describe("a rejection of the object", () => {
  test.each(REFUSALS)("is %s", (_, body) => expect(isRejection(rejected(body))).toBe(true));
  test.each(OTHERS)("is not %s", (_, body) => expect(isRejection(rejected(body))).toBe(false));
  test("is not a call without a response", () => {
    const message = "POST /x: failed calling webhook";
    const errors = [new KubeConnectionError(message), new KubeTimeoutError(message), new Error(message), undefined];
    expect(errors.map(isRejection)).toEqual([false, false, false, false]);
  });
});

test("a conflict means that the object changed, not that another manager owns a field", () => {
  const errors = [CHANGED, OWNED, TAKEN].map(rejected);
  expect(errors.map(isConflict)).toEqual([true, false, false]);
  expect(errors.map(isFieldConflict)).toEqual([false, true, false]);
});
