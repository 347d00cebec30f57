import { expect, test } from "vitest";
import { controllerUid, isOwnedBy, viewChild } from "./owned-child.ts";

const owned = (uid: string, more: object = {}) => ({
  metadata: { ownerReferences: [{ uid: "other" }, { uid, controller: true }], ...more },
});

test.each([
  ["absent", undefined],
  ["live", owned("mine")],
  ["terminating", owned("mine", { deletionTimestamp: "2026-01-01T00:00:00Z" })],
  ["foreign", owned("yours")],
  ["foreign", owned("yours", { deletionTimestamp: "2026-01-01T00:00:00Z" })],
  ["foreign", { metadata: { ownerReferences: [{ uid: "mine" }] } }],
  ["foreign", {}],
] as const)("%s: %j", (type, object) => {
  expect(viewChild(object, "mine").type).toBe(type);
});

test("an owner that is not the controller does not count", () => {
  expect(controllerUid(owned("mine").metadata)).toBe("mine");
  expect(isOwnedBy(owned("mine").metadata, "other")).toBe(false);
  expect(controllerUid(undefined)).toBeUndefined();
});
