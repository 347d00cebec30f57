import { beforeEach, expect, test } from "vitest";
import { AdmissionFixture } from "../../../test/wake/support/admission-fixture.ts";

const UNSYNCED = { status: 200, decision: "unsynced" };
const UNKNOWN = { status: 404, decision: "unknown" };

let a: AdmissionFixture;

beforeEach(() => {
  a = new AdmissionFixture();
});

test.each(["engines", "slices"] as const)(
  "while the watch of %s is broken no name is reported as unknown; once it works again, names are",
  async (watch) => {
    a.sync();
    expect(await a.admission.check("new")).toEqual(UNKNOWN);
    a.watchHealth[watch].observer.failed?.(new Error("forbidden"));
    // Created meanwhile, and serving: the agent gets no event of either.
    expect(await a.admission.check("new")).toEqual(UNSYNCED);
    expect(await a.hold("new")).toEqual(UNSYNCED);
    expect(a.confirmations).toEqual(["new"]);
    a.putEngine("new", 1);
    a.putEndpoint("new", true);
    a.watchHealth[watch].observer.event?.("put");
    expect((await a.admission.check("new")).decision).not.toBe("unknown");
    expect(await a.admission.check("never-created")).toEqual(UNKNOWN);
    expect(await a.hold("never-created")).toEqual(UNKNOWN);
  },
);

test("a watch that has stalled unnoticed: queries pass for an engine that the API server has, and for any name it cannot confirm", async () => {
  a.sync();
  a.stored = new Set(["new"]);
  expect(await a.admission.check("new")).toEqual(UNSYNCED);
  expect(await a.hold("new")).toEqual(UNSYNCED);
  expect(await a.admission.check("never-created")).toEqual(UNKNOWN);
  a.stored = "unreachable";
  await a.clock.advance(2_000);
  expect(await a.admission.check("never-created")).toEqual(UNSYNCED);
  // Not requested again at once: a query must not wait for an API server that does not respond.
  expect(await a.admission.check("another")).toEqual(UNSYNCED);
  expect(a.confirmations).toEqual(["new", "never-created", "never-created"]);
  a.stored = new Set();
  await a.clock.advance(2_000);
  expect(await a.admission.check("never-created")).toEqual(UNKNOWN);
});

test("an engine that the watch delivers during the absence check is decided by the watch", async () => {
  a.sync();
  const [checked, held] = [a.admission.check("e"), a.hold()];
  a.putEngine("e", 0);
  expect(await checked).toEqual({ status: 202, decision: "wait" });
  await a.clock.advance(0);
  expect(a.queue.countOf("e")).toBe(1);
  a.queue.releaseAll("shutdown");
  await held;
});

test("invented names cost the API server ten requests in two seconds, however many they are", async () => {
  a.sync();
  for (let index = 0; index < 1_000; index++) await a.admission.check(`x${index}`);
  expect(a.confirmations).toHaveLength(10);
  await a.clock.advance(2_000);
  for (let index = 0; index < 1_000; index++) await a.admission.check(`x${index}`);
  expect(a.confirmations).toHaveLength(20);
});

test("a watch that has stalled unnoticed: of twenty engines that the API server has, none is unknown", async () => {
  a.sync();
  const names = Array.from({ length: 20 }, (_, index) => `real-${index}`);
  a.stored = new Set(names);
  for (const name of names) expect(await a.admission.check(name)).toEqual(UNSYNCED);
  expect(await Promise.all(names.map((name) => a.hold(name)))).toEqual(names.map(() => UNSYNCED));
  expect(a.confirmations).toHaveLength(10);
});
