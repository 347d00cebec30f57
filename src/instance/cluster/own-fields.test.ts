import { expect, test } from "vitest";
import { claimedFields } from "./own-fields.ts";

const entry = (manager: string, operation: string, fieldsV1: object, rest: object = {}) => ({
  manager,
  operation,
  apiVersion: "apps/v1",
  fieldsV1,
  ...rest,
});
const KUBECTL = entry("kubectl-edit", "Update", { "f:spec": { "f:replicas": {} } });
const STATUS = entry("op", "Update", { "f:status": {} }, { subresource: "status" });

test("what was created counts as applied", () => {
  const created = entry("op", "Update", { "f:spec": { "f:strategy": {} } });
  expect(claimedFields([KUBECTL, created, STATUS], "op")).toEqual([
    { ...created, operation: "Apply" },
    KUBECTL,
    STATUS,
  ]);
});

test("what was created and what was applied become one entry with the fields of both", () => {
  const created = entry("op", "Update", { "f:spec": { "f:a": { ".": {} }, "f:b": {} } });
  const applied = entry("op", "Apply", { "f:spec": { "f:a": { "f:x": {} } }, "f:data": {} });
  expect(claimedFields([created, applied, KUBECTL], "op")).toEqual([
    entry("op", "Apply", { "f:spec": { "f:a": { ".": {}, "f:x": {} }, "f:b": {} }, "f:data": {} }),
    KUBECTL,
  ]);
});

test.each([
  ["nothing of the manager's", [KUBECTL]],
  ["only what was applied", [entry("op", "Apply", { "f:spec": {} }), KUBECTL]],
  ["only a status", [STATUS]],
  ["no entries", []],
])("%s: there is nothing to change", (_, managedFields) => {
  expect(claimedFields(managedFields, "op")).toBeUndefined();
});
