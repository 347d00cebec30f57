import { describe, expect, test } from "vitest";
import { type ConfigMap, entry, held, recordingStore } from "../../test/support/cache-fixtures.ts";
import { silentLogger } from "../core/logger.ts";
import { ObjectStore } from "./object-store.ts";

describe("the object store", () => {
  test("emits every change with the previous object", () => {
    const { store, emitted } = recordingStore();
    store.change("watch", (batch) => batch.put(entry("ns/a", 1)));
    store.change("write", (batch) => batch.put(entry("ns/a", 2)));
    const stored = store.get({ namespace: "ns", name: "a" });
    if (stored !== undefined) store.change("watch", (batch) => batch.remove(stored, entry("ns/a", 3)));
    expect(emitted()).toEqual(["added ns/a@1 watch", "modified ns/a@2 write", "deleted ns/a@3 watch"]);
    expect(store.size).toBe(0);
  });

  test("another object under the same name is a deletion and an addition", () => {
    const { store, emitted } = recordingStore();
    store.change("watch", (batch) => batch.put(entry("ns/a", 1)));
    store.change("watch", (batch) => batch.put(entry("ns/a", 5, { uid: "second" })));
    expect(emitted()).toEqual(["added ns/a@1 watch", "deleted ns/a@1 watch", "added ns/a@5 watch"]);
    expect(store.size).toBe(1);
  });

  test("a batch is complete before it is emitted", () => {
    const sizes: number[] = [];
    const store = new ObjectStore<ConfigMap>({
      indexes: {},
      logger: silentLogger,
      selective: false,
      emit: (events) => sizes.push(...events.map(() => store.size)),
    });
    store.change("watch", (batch) => {
      for (const name of ["a", "b", "c"]) batch.put(entry(`ns/${name}`, 1));
    });
    expect(sizes).toEqual([3, 3, 3]);
  });

  test("lists in the order of namespace and name, and a single namespace", () => {
    const { store } = recordingStore();
    store.change("watch", (batch) => {
      for (const key of ["b/x", "a/y", "a/x", "c/z"]) batch.put(entry(key, 1));
    });
    expect(held(store)).toEqual(["a/x@1", "a/y@1", "b/x@1", "c/z@1"]);
    expect(held({ list: () => store.list("a") })).toEqual(["a/x@1", "a/y@1"]);
    expect(store.list("nowhere")).toEqual([]);
  });

  test("indexes follow puts, moves and removals", () => {
    const { store } = recordingStore({ indexes: { app: (object) => [object.metadata?.labels?.["app"] ?? "none"] } });
    const found = (value: string): string[] => held({ list: () => store.byIndex("app", value) });
    store.change("watch", (batch) => batch.put(entry("ns/a", 1, { labels: { app: "x" } })));
    store.change("watch", (batch) => batch.put(entry("ns/b", 2, { labels: { app: "x" } })));
    expect(found("x")).toEqual(["ns/a@1", "ns/b@2"]);
    store.change("watch", (batch) => batch.put(entry("ns/a", 3, { labels: { app: "y" } })));
    expect([found("x"), found("y")]).toEqual([["ns/b@2"], ["ns/a@3"]]);
    for (const stored of store.entries()) store.change("watch", (batch) => batch.remove(stored));
    expect([found("x"), found("y")]).toEqual([[], []]);
  });

  test("an unknown index is an error of the caller", () => {
    expect(() => recordingStore().store.byIndex("nope", "x")).toThrow("no index named nope");
  });
});
