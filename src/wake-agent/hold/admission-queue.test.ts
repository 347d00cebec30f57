import { beforeEach, expect, test } from "vitest";
import { AdmissionFixture } from "../../../test/wake/support/admission-fixture.ts";

const UNSYNCED = { status: 200, decision: "unsynced" };

let a: AdmissionFixture;

beforeEach(() => {
  a = new AdmissionFixture();
});

test("a flood for one engine takes every free place, and no place that another engine needs", async () => {
  a.putEngine("flooded", 0);
  a.putEngine("quiet", 0);
  a.sync();
  const flood = Array.from({ length: 50 }, () => a.hold("flooded"));
  expect(a.queue.countOf("flooded")).toBe(10);
  const waiting = a.hold("quiet");
  expect([a.queue.countOf("flooded"), a.queue.countOf("quiet")]).toEqual([9, 1]);
  expect(await a.hold("flooded")).toEqual({ status: 503, decision: "shed" });
  a.putEngine("quiet", 1);
  a.putEndpoint("quiet", true);
  await a.clock.advance(0);
  expect(await waiting).toEqual({ status: 200, decision: "released" });
  // The displaced request is counted as shed, like the forty that got no place.
  expect(a.demand.rows().find(({ engine }) => engine === "flooded")).toMatchObject({ holds: 9, shed: 42 });
  a.queue.releaseAll("shutdown");
  const decisions = (await Promise.all(flood)).map(({ decision }) => decision);
  expect(decisions.filter((decision) => decision === "shed")).toHaveLength(41);
});

test("a displaced request passes when its engine is up", async () => {
  a.putEngine("a", 0);
  a.putEngine("b", 0);
  a.sync();
  a.capacity = 2;
  a.reached = "not yet";
  const [first, second] = [a.hold("a"), a.hold("a")];
  a.putEngine("a", 1);
  a.putEndpoint("a", true);
  void a.hold("b");
  expect(await second).toEqual(UNSYNCED);
  expect(a.queue.countOf("a")).toBe(1);
  a.queue.releaseAll("shutdown");
  await first;
});

test("four engines that do not start leave a place for a fifth", async () => {
  for (const name of ["a", "b", "c", "d", "e"]) a.putEngine(name, 0);
  a.sync();
  a.capacity = 8;
  for (const name of ["a", "b", "c", "d"]) for (let count = 0; count < 8; count++) void a.hold(name);
  expect(["a", "b", "c", "d"].map((name) => a.queue.countOf(name))).toEqual([2, 2, 2, 2]);
  void a.hold();
  expect(a.queue.countOf("e")).toBe(1);
  expect(a.queue.size).toBe(8);
  a.queue.releaseAll("shutdown");
});

test("capacity that has shrunk below what is held: the queue does not grow, and still admits an engine that has fewer", async () => {
  a.putEngine("a", 0);
  a.putEngine("b", 0);
  a.sync();
  const held = Array.from({ length: 4 }, () => a.hold("a"));
  a.capacity = 2;
  expect((await a.hold("a")).decision).toBe("shed");
  const waiting = a.hold("b");
  expect((await held[3])?.decision).toBe("shed");
  expect([a.queue.countOf("a"), a.queue.countOf("b")]).toEqual([3, 1]);
  a.putEngine("b", 1);
  a.putEndpoint("b", true);
  await a.clock.advance(0);
  expect(await waiting).toEqual({ status: 200, decision: "released" });
  a.queue.releaseAll("shutdown");
});
