import { describe, expect, test } from "vitest";
import { KubeApiError } from "../core/errors.ts";
import type { KubeObject } from "../core/object.ts";
import { defineResource } from "../core/resource.ts";
import { type StatusStore, type StatusWrite, statusStore } from "./status-store.ts";
import { updateStatus } from "./update-status.ts";

interface Status {
  phase?: string;
  reconciledAt?: string;
}
interface Thing extends KubeObject {
  status?: Status;
}
const Thing = defineResource<Thing>({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
});

const thing = (phase: string, metadata: Partial<KubeObject["metadata"] & object> = {}): Thing => ({
  metadata: { namespace: "a", name: "x", uid: "u1", generation: 1, resourceVersion: "5", ...metadata },
  status: { phase },
});

/** A store whose writes have these results, and which then reads this object. */
function scripted(results: readonly StatusWrite<Thing>[], fresh?: Thing) {
  const writes: { readonly version: string | undefined; readonly status: Status }[] = [];
  const store: StatusStore<Thing, Status> = {
    read: () => Promise.resolve(fresh),
    write(object, status) {
      writes.push({ version: object.metadata?.resourceVersion, status });
      return Promise.resolve(results[writes.length - 1] ?? { type: "conflict" });
    },
  };
  return { store, writes };
}

const next = { phase: "stable" };
const written = { type: "written", object: thing("stable", { resourceVersion: "6" }) } as const;
const conflict = { type: "conflict" } as const;

test("an unchanged status is not written", async () => {
  const { store, writes } = scripted([]);
  expect(await updateStatus(store, { object: thing("stable"), status: next })).toEqual({ type: "unchanged" });
  expect(writes).toEqual([]);
});

test("isSame may ignore a timestamp", async () => {
  const { store, writes } = scripted([]);
  const isSame = (stored: Status | undefined, status: Status): boolean => stored?.phase === status.phase;
  const status = { phase: "stable", reconciledAt: "now" };
  expect(await updateStatus(store, { object: thing("stable"), status, isSame })).toEqual({ type: "unchanged" });
  expect(writes).toEqual([]);
});

test("a changed status is written over the version that was read", async () => {
  const { store, writes } = scripted([written]);
  expect(await updateStatus(store, { object: thing("creating"), status: next })).toEqual(written);
  expect(writes).toEqual([{ version: "5", status: next }]);
});

describe("after a conflict", () => {
  test("the write is repeated once if the status has not changed", async () => {
    const { store, writes } = scripted([conflict, written], thing("creating", { resourceVersion: "9", generation: 2 }));
    expect(await updateStatus(store, { object: thing("creating"), status: next })).toEqual(written);
    expect(writes.map(({ version }) => version)).toEqual(["5", "9"]);
  });

  test.each([
    { name: "another status", fresh: thing("draining", { resourceVersion: "9" }), sameGeneration: false },
    { name: "another object of the name", fresh: thing("creating", { uid: "u2" }), sameGeneration: false },
    { name: "another generation, if that matters", fresh: thing("creating", { generation: 2 }), sameGeneration: true },
  ])("$name discards the status", async ({ fresh, sameGeneration }) => {
    const { store, writes } = scripted([conflict, written], fresh);
    const outcome = await updateStatus(store, { object: thing("creating"), status: next, sameGeneration });
    expect(outcome).toEqual({ type: "discarded" });
    expect(writes).toHaveLength(1);
  });

  test("a second conflict discards the status", async () => {
    const { store } = scripted([conflict, conflict], thing("creating"));
    const outcome = await updateStatus(store, { object: thing("creating"), status: next });
    expect(outcome).toEqual({ type: "discarded" });
  });

  test("a deleted object is gone", async () => {
    const { store } = scripted([conflict]);
    expect(await updateStatus(store, { object: thing("creating"), status: next })).toEqual({ type: "gone" });
  });
});

describe("the status subresource", () => {
  const clientThat = (patch: () => Promise<unknown>) => {
    const calls: unknown[][] = [];
    const record = (...args: unknown[]): Promise<never> => {
      calls.push(args);
      return patch() as Promise<never>;
    };
    return { calls, client: { patch: record, find: record } };
  };

  test("is patched with what changed, bound to the version", async () => {
    const { calls, client } = clientThat(() => Promise.resolve(thing("stable")));
    const store = statusStore<Thing, Status>(client, Thing, { fieldManager: "m" });
    const object = { ...thing("creating"), status: { phase: "creating", reconciledAt: "then" } };
    expect(await store.write(object, next)).toEqual({ type: "written", object: thing("stable") });
    const body = { metadata: { resourceVersion: "5" }, status: { phase: "stable", reconciledAt: null } };
    const options = { fieldManager: "m", subresource: "status" };
    expect(calls).toEqual([[Thing, { namespace: "a", name: "x" }, { type: "merge", body }, options]]);
  });

  test.each([
    { status: 409, reason: "Conflict", want: { type: "conflict" } },
    { status: 404, reason: "NotFound", want: { type: "gone" } },
  ])("$status is an outcome: $want.type", async ({ status, reason, want }) => {
    const { client } = clientThat(() => Promise.reject(new KubeApiError("PATCH /x", status, { reason })));
    expect(await statusStore<Thing, Status>(client, Thing).write(thing("creating"), next)).toEqual(want);
  });

  test("any other error is thrown: the write may have happened", async () => {
    const { client } = clientThat(() => Promise.reject(new KubeApiError("PATCH /x", 500, {})));
    const write = statusStore<Thing, Status>(client, Thing).write(thing("creating"), next);
    await expect(write).rejects.toThrow("500");
  });
});
