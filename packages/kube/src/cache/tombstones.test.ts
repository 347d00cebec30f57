import { expect, test } from "vitest";
import { Tombstones } from "./tombstones.ts";

const scope = {};

test("a deleted uid is hidden at every version, until the watch delivers the deletion", () => {
  const tombstones = new Tombstones(true);
  tombstones.mark(scope, "u");
  expect(tombstones.hides("u", "1")).toBe(true);
  expect(tombstones.hides("u", "999")).toBe(true);
  tombstones.settle("u", "5");
  expect(tombstones.hides("u", "1")).toBe(false);
});

test("a uid that left the selection is hidden only up to that version", () => {
  const tombstones = new Tombstones(true);
  tombstones.mark(scope, "u", "10");
  expect(tombstones.hides("u", "10")).toBe(true);
  expect(tombstones.hides("u", "11")).toBe(false);
  tombstones.settle("u", "9");
  expect(tombstones.hides("u", "10")).toBe(true);
  tombstones.settleUpTo(scope, "10");
  expect(tombstones.size).toBe(0);
});

test("with a selector a removal may not be a deletion", () => {
  const tombstones = new Tombstones(false);
  tombstones.mark(scope, "u");
  tombstones.settle("u", "5");
  expect(tombstones.hides("u", "6")).toBe(true);
  tombstones.settleListed(scope, tombstones.sequence);
  expect(tombstones.size).toBe(0);
});

test("a deletion is never weakened to a removal up to a version", () => {
  const tombstones = new Tombstones(true);
  tombstones.mark(scope, "u");
  tombstones.mark(scope, "u", "10");
  expect(tombstones.hides("u", "11")).toBe(true);
});

test("a list settles the earlier marks of its own scope", () => {
  const tombstones = new Tombstones(true);
  tombstones.mark(scope, "before");
  tombstones.mark({}, "elsewhere");
  const { sequence } = tombstones;
  tombstones.mark(scope, "after");
  expect(tombstones.hides("before", "1", sequence)).toBe(false);
  expect(tombstones.hides("after", "1", sequence)).toBe(true);
  tombstones.settleListed(scope, sequence);
  expect(["before", "elsewhere", "after"].map((uid) => tombstones.hides(uid, "1"))).toEqual([false, true, true]);
});

test("memory is bounded: the oldest marks are evicted first", () => {
  const tombstones = new Tombstones(true);
  for (let uid = 0; uid < 10_000; uid += 1) tombstones.mark(scope, `u${uid}`);
  expect(tombstones.size).toBeLessThanOrEqual(2_048);
  expect(tombstones.hides("u0", "1")).toBe(false);
  expect(tombstones.hides("u9999", "1")).toBe(true);
});
