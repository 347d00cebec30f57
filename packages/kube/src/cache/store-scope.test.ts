import { describe, expect, test } from "vitest";
import { type ConfigMap, entry, held, recordingStore } from "../../test/support/cache-fixtures.ts";
import type { ObjectStore } from "./object-store.ts";
import { StoreScope } from "./store-scope.ts";

function scoped(namespace?: string) {
  const { store, told } = recordingStore();
  return { store, told, scope: new StoreScope(store, namespace) };
}

/** A write of this process, merged ahead of the watch. */
const write = (store: ObjectStore<ConfigMap>, key: string, version: number, uid?: string): void =>
  store.change("write", (batch) => batch.put(entry(key, version, uid === undefined ? {} : { uid })));

const relist = (scope: StoreScope<ConfigMap>, version: number, ...keys: readonly [string, number][]) => {
  const list = scope.beginRelist();
  for (const [key, at] of keys) list.put(entry(key, at));
  return list.commit(String(version));
};

describe("news from the watch", () => {
  test("an event that brings nothing new is no event", () => {
    const { store, told, scope } = scoped();
    write(store, "ns/a", 7);
    told();
    scope.put(entry("ns/a", 5));
    scope.put(entry("ns/a", 7));
    expect(told()).toEqual([]);
    expect(held(store)).toEqual(["ns/a@7"]);
    scope.put(entry("ns/a", 10));
    expect(told()).toEqual(["modified ns/a@10 watch"]);
  });

  test("versions that cannot be ordered are believed", () => {
    const { store, scope } = scoped();
    scope.put(entry("ns/a", "b"));
    scope.put(entry("ns/a", "a"));
    expect(held(store)).toEqual(["ns/a@a"]);
  });

  test("the end of an old object does not take the new one of that name along", () => {
    const { store, told, scope } = scoped();
    scope.put(entry("ns/a", 1, { uid: "first" }));
    write(store, "ns/a", 9, "second");
    told();
    scope.put(entry("ns/a", 7, { uid: "first" }));
    scope.remove(entry("ns/a", 8, { uid: "first" }));
    expect(told()).toEqual([]);
    expect(held(store)).toEqual(["ns/a@9"]);
  });

  test("a deletion shows the last state", () => {
    const { told, scope } = scoped();
    scope.put(entry("ns/a", 1));
    scope.remove(entry("ns/a", 4));
    scope.remove(entry("ns/never-seen", 5));
    expect(told()).toEqual(["added ns/a@1 watch", "deleted ns/a@4 watch"]);
  });

  test("the position follows events and bookmarks and never goes back", () => {
    const { scope } = scoped();
    expect(scope.position).toBeUndefined();
    scope.put(entry("ns/a", 9));
    scope.bookmark("12");
    scope.put(entry("ns/b", 10));
    expect(scope.position).toBe("12");
  });
});

describe("a complete list", () => {
  test("shows nothing until it is committed, and nothing if it is abandoned", () => {
    const { store, told, scope } = scoped();
    const list = scope.beginRelist();
    list.put(entry("ns/a", 1));
    expect([store.size, told()]).toEqual([0, []]);
  });

  test("tells of what was missed: additions, changes and deletions", () => {
    const { store, told, scope } = scoped();
    relist(scope, 10, ["ns/gone", 1], ["ns/same", 2], ["ns/changed", 3]);
    told();
    relist(scope, 20, ["ns/same", 2], ["ns/changed", 15], ["ns/new", 16]);
    expect(told().sort()).toEqual(["added ns/new@16 watch", "deleted ns/gone@1 watch", "modified ns/changed@15 watch"]);
    expect(held(store)).toEqual(["ns/changed@15", "ns/new@16", "ns/same@2"]);
  });

  test("an object that ends while the list still arrives is not in it", () => {
    const { store, scope } = scoped();
    const list = scope.beginRelist();
    list.put(entry("ns/a", 1));
    list.remove(entry("ns/a", 5));
    list.commit("5");
    expect(store.size).toBe(0);
  });

  test("does not undo a write made after it was taken", () => {
    const { store, told, scope } = scoped();
    relist(scope, 10, ["ns/a", 1]);
    const list = scope.beginRelist();
    list.put(entry("ns/a", 1));
    write(store, "ns/a", 21);
    write(store, "ns/b", 22);
    told();
    list.commit("20");
    expect(told()).toEqual([]);
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

  test("knows that a write from before it was taken has been undone since", () => {
    const { store, told, scope } = scoped();
    relist(scope, 10);
    write(store, "ns/b", 15);
    told();
    relist(scope, 20);
    expect(told()).toEqual(["deleted ns/b@15 watch"]);
  });

  test("does not bring back what was deleted while it was on its way", () => {
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

  test("settles what was deleted before it was asked for", () => {
    const { store, scope } = scoped();
    store.tombstones.mark(scope, "uid-a");
    relist(scope, 10);
    expect(store.tombstones.size).toBe(0);
  });

  test("touches no other namespace", () => {
    const { store, told } = recordingStore();
    const [one, two] = [new StoreScope(store, "one"), new StoreScope(store, "two")];
    relist(one, 10, ["one/a", 1]);
    relist(two, 11, ["two/a", 2]);
    told();
    relist(one, 20);
    expect(told()).toEqual(["deleted one/a@1 watch"]);
    expect(held(store)).toEqual(["two/a@2"]);
  });

  test("from before what was already seen wins whole: the storage was restored", () => {
    const { store, told, scope } = scoped();
    relist(scope, 100, ["ns/a", 90], ["ns/b", 95]);
    write(store, "ns/c", 110);
    store.tombstones.mark(scope, "uid-d");
    told();
    expect(relist(scope, 50, ["ns/a", 40], ["ns/d", 45])).toEqual({ rewound: true });
    expect(held(store)).toEqual(["ns/a@40", "ns/d@45"]);
    expect(told().sort()).toEqual([
      "added ns/d@45 watch",
      "deleted ns/b@95 watch",
      "deleted ns/c@110 watch",
      "modified ns/a@40 watch",
    ]);
    expect(scope.position).toBe("50");
    expect(relist(scope, 60, ["ns/a", 55])).toEqual({ rewound: false });
  });
});
