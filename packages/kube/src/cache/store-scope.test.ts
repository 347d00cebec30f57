import { describe, expect, test } from "vitest";
import { type ConfigMap, entry, held, recordingStore } from "../../test/support/cache-fixtures.ts";
import type { ObjectStore } from "./object-store.ts";
import { StoreScope } from "./store-scope.ts";

function scoped(namespace?: string) {
  const { store, emitted } = recordingStore();
  return { store, emitted, scope: new StoreScope(store, namespace) };
}

/** An own write, merged ahead of the watch. */
const write = (store: ObjectStore<ConfigMap>, key: string, version: number, uid?: string): void =>
  store.change("write", (batch) => batch.put(entry(key, version, uid === undefined ? {} : { uid })));

const relist = (scope: StoreScope<ConfigMap>, version: number, ...keys: readonly [string, number][]) => {
  const list = scope.beginRelist();
  for (const [key, at] of keys) list.put(entry(key, at));
  return list.commit(String(version));
};

describe("events of the watch", () => {
  test("an event without news is not emitted", () => {
    const { store, emitted, scope } = scoped();
    write(store, "ns/a", 7);
    emitted();
    scope.put(entry("ns/a", 5));
    scope.put(entry("ns/a", 7));
    expect(emitted()).toEqual([]);
    expect(held(store)).toEqual(["ns/a@7"]);
    scope.put(entry("ns/a", 10));
    expect(emitted()).toEqual(["modified ns/a@10 watch"]);
  });

  test("versions that cannot be ordered are accepted", () => {
    const { store, scope } = scoped();
    scope.put(entry("ns/a", "b"));
    scope.put(entry("ns/a", "a"));
    expect(held(store)).toEqual(["ns/a@a"]);
  });

  test("the deletion of an old object does not remove the new one of that name", () => {
    const { store, emitted, scope } = scoped();
    scope.put(entry("ns/a", 1, { uid: "first" }));
    write(store, "ns/a", 9, "second");
    emitted();
    scope.put(entry("ns/a", 7, { uid: "first" }));
    scope.remove(entry("ns/a", 8, { uid: "first" }));
    expect(emitted()).toEqual([]);
    expect(held(store)).toEqual(["ns/a@9"]);
  });

  test("a deletion carries the last state", () => {
    const { emitted, scope } = scoped();
    scope.put(entry("ns/a", 1));
    scope.remove(entry("ns/a", 4));
    scope.remove(entry("ns/never-seen", 5));
    expect(emitted()).toEqual(["added ns/a@1 watch", "deleted ns/a@4 watch"]);
  });

  test("the position follows events and bookmarks and never decreases", () => {
    const { scope } = scoped();
    expect(scope.position).toBeUndefined();
    scope.put(entry("ns/a", 9));
    scope.bookmark("12");
    scope.put(entry("ns/b", 10));
    expect(scope.position).toBe("12");
  });
});

describe("a complete list", () => {
  test("is invisible until it is committed, and has no effect if it is abandoned", () => {
    const { store, emitted, scope } = scoped();
    const list = scope.beginRelist();
    list.put(entry("ns/a", 1));
    expect([store.size, emitted()]).toEqual([0, []]);
  });

  test("emits what was missed: additions, changes and deletions", () => {
    const { store, emitted, scope } = scoped();
    relist(scope, 10, ["ns/gone", 1], ["ns/same", 2], ["ns/changed", 3]);
    emitted();
    relist(scope, 20, ["ns/same", 2], ["ns/changed", 15], ["ns/new", 16]);
    expect(emitted().sort()).toEqual([
      "added ns/new@16 watch",
      "deleted ns/gone@1 watch",
      "modified ns/changed@15 watch",
    ]);
    expect(held(store)).toEqual(["ns/changed@15", "ns/new@16", "ns/same@2"]);
  });

  test("does not contain an object that is deleted while it arrives", () => {
    const { store, scope } = scoped();
    const list = scope.beginRelist();
    list.put(entry("ns/a", 1));
    list.remove(entry("ns/a", 5));
    list.commit("5");
    expect(store.size).toBe(0);
  });

  test("does not undo a write made after it was taken", () => {
    const { store, emitted, scope } = scoped();
    relist(scope, 10, ["ns/a", 1]);
    const list = scope.beginRelist();
    list.put(entry("ns/a", 1));
    write(store, "ns/a", 21);
    write(store, "ns/b", 22);
    emitted();
    list.commit("20");
    expect(emitted()).toEqual([]);
    expect(held(store)).toEqual(["ns/a@21", "ns/b@22"]);
  });

  test("does not replace an object created after it was taken by the old one of that name", () => {
    const { store, scope } = scoped();
    const list = scope.beginRelist();
    list.put(entry("ns/a", 1, { uid: "first" }));
    write(store, "ns/a", 21, "second");
    list.commit("20");
    expect(held(store)).toEqual(["ns/a@21"]);
  });

  test("replaces an own write made before it was taken", () => {
    const { store, emitted, scope } = scoped();
    relist(scope, 10);
    write(store, "ns/b", 15);
    emitted();
    relist(scope, 20);
    expect(emitted()).toEqual(["deleted ns/b@15 watch"]);
  });

  test("does not restore an object that was deleted while it was in flight", () => {
    const { store, scope } = scoped();
    const list = scope.beginRelist();
    list.put(entry("ns/a", 1));
    store.tombstones.mark(scope, "uid-a");
    list.commit("10");
    expect(store.size).toBe(0);
    scope.put(entry("ns/a", 11));
    expect(store.size).toBe(0);
    scope.remove(entry("ns/a", 12));
    expect(store.tombstones.size).toBe(0);
  });

  test("settles deletions made before it was requested", () => {
    const { store, scope } = scoped();
    store.tombstones.mark(scope, "uid-a");
    relist(scope, 10);
    expect(store.tombstones.size).toBe(0);
  });

  test("does not affect other namespaces", () => {
    const { store, emitted } = recordingStore();
    const [one, two] = [new StoreScope(store, "one"), new StoreScope(store, "two")];
    relist(one, 10, ["one/a", 1]);
    relist(two, 11, ["two/a", 2]);
    emitted();
    relist(one, 20);
    expect(emitted()).toEqual(["deleted one/a@1 watch"]);
    expect(held(store)).toEqual(["two/a@2"]);
  });

  test("older than the observed state wins entirely: the storage was restored", () => {
    const { store, emitted, scope } = scoped();
    relist(scope, 100, ["ns/a", 90], ["ns/b", 95]);
    write(store, "ns/c", 110);
    store.tombstones.mark(scope, "uid-d");
    emitted();
    expect(relist(scope, 50, ["ns/a", 40], ["ns/d", 45])).toEqual({ rewound: true });
    expect(held(store)).toEqual(["ns/a@40", "ns/d@45"]);
    expect(emitted().sort()).toEqual([
      "added ns/d@45 watch",
      "deleted ns/b@95 watch",
      "deleted ns/c@110 watch",
      "modified ns/a@40 watch",
    ]);
    expect(scope.position).toBe("50");
    expect(relist(scope, 60, ["ns/a", 55])).toEqual({ rewound: false });
  });
});
