// The absence check against an API server whose responses the test controls one by one: what is confirmed, and what is
// not.
import { silentLogger } from "@firebolt-operator/kube";
import { ManualClock } from "@firebolt-operator/kube/testing";
import { beforeEach, expect, test } from "vitest";
import { AbsenceCheck } from "./absence-check.ts";

let clock: ManualClock;
let progress: number;
/** Requests that have no response yet, by name. */
let pending: Map<string, PromiseWithResolvers<boolean>>;
let asked: number;
let absence: AbsenceCheck;
beforeEach(() => {
  clock = new ManualClock();
  progress = 1;
  pending = new Map();
  asked = 0;
  absence = new AbsenceCheck({
    clock,
    logger: silentLogger,
    signal: new AbortController().signal,
    progress: () => progress,
    exists: (name) => {
      asked++;
      const response = Promise.withResolvers<boolean>();
      pending.set(name, response);
      return response.promise;
    },
  });
});

const names = (start: string, count: number) => Array.from({ length: count }, (_, index) => `${start}-${index}`);
const confirm = (all: readonly string[]) => all.map((name) => absence.isConfirmed(name));
/** Responds to every request so far: these exist, all others do not. */
const respond = (existing: readonly string[] = []): void => {
  for (const [name, { resolve }] of pending) resolve(existing.includes(name));
  pending.clear();
};
const all = (count: number, value: boolean) => new Array<boolean>(count).fill(value);

test("requests that have no response confirm nothing: neither while they wait nor when they fail", async () => {
  const junk = confirm(names("junk", 10));
  let real: boolean | undefined;
  const confirmed = absence.isConfirmed("real").then((result) => {
    real = result;
  });
  await clock.advance(1_000);
  expect(real).toBeUndefined();
  for (const { reject } of pending.values()) reject(new Error("no response within 1 s"));
  await confirmed;
  expect(real).toBe(false);
  expect(await Promise.all(junk)).toEqual(all(10, false));
});

test("one request that fails among ten: names beyond them are not confirmed", async () => {
  const junk = confirm(names("junk", 10));
  const beyond = absence.isConfirmed("real");
  pending.get("junk-9")?.reject(new Error("no response within 1 s"));
  pending.delete("junk-9");
  respond();
  expect(await Promise.all(junk)).toEqual([...all(9, true), false]);
  expect(await beyond).toBe(false);
});

test("ten names in one moment that the API server does not have: the others of that moment are confirmed with them", async () => {
  const results = confirm(names("junk", 50));
  respond();
  expect(await Promise.all(results)).toEqual(all(50, true));
  expect(asked).toBe(10);
});

test("one engine that the API server has: names beyond the ten are not confirmed until the watch makes progress", async () => {
  const first = confirm(["real-0", ...names("junk", 9)]);
  const beyond = absence.isConfirmed("real-1");
  respond(["real-0"]);
  expect(await Promise.all(first)).toEqual([false, ...all(9, true)]);
  expect(await beyond).toBe(false);
  // The result itself has expired by now; what it proves about the watch has not.
  await clock.advance(2_000);
  const second = confirm(names("more", 10));
  const stillBeyond = absence.isConfirmed("real-1");
  respond();
  expect(await Promise.all(second)).toEqual(all(10, true));
  expect(await stillBeyond).toBe(false);
  progress++;
  expect(await absence.isConfirmed("beyond")).toBe(true);
  expect(asked).toBe(20);
});

test("an engine that the watch reports during the read does not make the watch stale", async () => {
  const first = absence.isConfirmed("new");
  progress++;
  respond(["new"]);
  expect(await first).toBe(false);
  await clock.advance(2_000);
  const results = confirm(names("junk", 11));
  respond();
  expect(await Promise.all(results)).toEqual(all(11, true));
});
