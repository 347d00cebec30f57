import { expect, test } from "vitest";
import { PrunedStatus } from "./pruned-status.ts";

const object = (status: object, uid = "1") => ({ metadata: { namespace: "ns", name: "o", uid }, status });

test("a field that the API server pruned is kept for the object, and reported once", () => {
  const pruned = new PrunedStatus(["checked", "other"]);
  expect(pruned.compare({ phase: "a", checked: true }, object({ phase: "a" }))).toEqual(["checked"]);
  expect(pruned.restore(object({ phase: "a" })).status).toEqual({ phase: "a", checked: true });
  expect(pruned.compare({ phase: "b", checked: true }, object({ phase: "b" }))).toEqual([]);
  // A new object of the same name starts without it.
  expect(pruned.restore(object({ phase: "a" }, "2")).status).toEqual({ phase: "a" });
});

test("a field that was cleared, stored or belongs to a deleted object is not restored", () => {
  const pruned = new PrunedStatus(["checked"]);
  const prune = () => pruned.compare({ checked: true }, object({}));
  prune();
  pruned.compare({}, object({}));
  expect(pruned.restore(object({})).status).toEqual({});
  prune();
  pruned.compare({ checked: true }, object({ checked: true }));
  expect(pruned.restore(object({})).status).toEqual({});
  prune();
  pruned.forget("ns", "o");
  const same = object({});
  expect(pruned.restore(same)).toBe(same);
});

test("other fields are not of interest, and a stored value wins", () => {
  const pruned = new PrunedStatus(["checked"]);
  expect(pruned.compare({ unknown: 1 }, object({}))).toEqual([]);
  pruned.compare({ checked: true }, object({}));
  expect(pruned.restore(object({ checked: false })).status).toEqual({ checked: false });
});
