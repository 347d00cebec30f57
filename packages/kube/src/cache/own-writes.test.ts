import { describe, expect, test } from "vitest";
import {
  CONFIG_MAPS,
  type ConfigMap,
  configMap,
  entry,
  held,
  recordingStore,
  shapeConfigMap,
} from "../../test/support/cache-fixtures.ts";
import type { AcceptedWrite } from "../client/client.ts";
import { parseLabelSelector } from "../core/label-selector.ts";
import { mergeWrite, type OwnWritesOptions } from "./own-writes.ts";
import { StoreScope } from "./store-scope.ts";

function writing(options: { readonly selector?: string; readonly hasFieldSelector?: boolean } = {}) {
  const { store, emitted } = recordingStore({ selective: options.selector !== undefined });
  const scope = new StoreScope(store, "ns");
  const merging: OwnWritesOptions<ConfigMap> = {
    type: CONFIG_MAPS,
    store,
    shape: shapeConfigMap,
    scopeOf: (namespace) => (namespace === "ns" ? scope : undefined),
    labelSelector: parseLabelSelector(options.selector ?? ""),
    hasFieldSelector: options.hasFieldSelector ?? false,
  };
  const merge = (write: AcceptedWrite): void => mergeWrite(write, merging);
  return {
    store,
    emitted,
    scope,
    merge,
    wrote: (object: ConfigMap) => merge({ type: "written", resource: CONFIG_MAPS, object }),
    deleted: (name: string, uid?: string) =>
      merge({ type: "gone", resource: CONFIG_MAPS, key: { namespace: "ns", name }, uid }),
  };
}

describe("an accepted write", () => {
  test("is visible at once, and its watch event is not emitted again", () => {
    const { scope, emitted, wrote } = writing();
    scope.put(entry("ns/a", 5));
    wrote(configMap("ns/a", 6));
    wrote(configMap("ns/new", 7));
    scope.put(entry("ns/a", 6));
    scope.put(entry("ns/new", 7));
    expect(emitted()).toEqual(["added ns/a@5 watch", "modified ns/a@6 write", "added ns/new@7 write"]);
  });

  test("is an echo when the watch delivers it, once", () => {
    const { scope, wrote } = writing();
    wrote(configMap("ns/a", 6));
    expect([scope.isEcho("5"), scope.isEcho("6"), scope.isEcho("6")]).toEqual([false, true, false]);
  });

  test("that the cache ignored is not an echo", () => {
    const { scope, wrote } = writing({ selector: "app=x" });
    wrote(configMap("ns/a", 6));
    expect(scope.isEcho("6")).toBe(false);
  });

  test("is not an echo after a rewind: the version may belong to another write", () => {
    const { scope, wrote } = writing();
    scope.put(entry("ns/a", 5));
    wrote(configMap("ns/a", 6));
    scope.beginRelist().commit("4");
    expect(scope.isEcho("6")).toBe(false);
  });

  test("is ignored if the watch is already past it, even if the object was deleted since", () => {
    const { store, scope, emitted, wrote } = writing();
    scope.put(entry("ns/a", 5));
    scope.remove(entry("ns/a", 8));
    emitted();
    wrote(configMap("ns/a", 6));
    expect([store.size, emitted()]).toEqual([0, []]);
  });

  test("does not replace a newer write whose response arrived first", () => {
    const { store, wrote } = writing();
    wrote(configMap("ns/a", 9));
    wrote(configMap("ns/a", 8));
    expect(held(store)).toEqual(["ns/a@9"]);
  });

  test("of a new object deletes the old one of that name permanently", () => {
    const { store, scope, emitted, wrote, deleted } = writing();
    wrote(configMap("ns/a", 3, { uid: "first" }));
    wrote(configMap("ns/a", 6, { uid: "second" }));
    expect(emitted()).toEqual(["added ns/a@3 write", "deleted ns/a@3 write", "added ns/a@6 write"]);
    deleted("a", "second");
    scope.put(entry("ns/a", 3, { uid: "first" }));
    scope.remove(entry("ns/a", 5, { uid: "first" }));
    scope.put(entry("ns/a", 6, { uid: "second" }));
    scope.remove(entry("ns/a", 7, { uid: "second" }));
    expect(emitted()).toEqual(["deleted ns/a@6 write"]);
    expect(store.tombstones.size).toBe(0);
  });

  test("is copied: the caller may modify its own object", () => {
    const { store, wrote } = writing();
    const object = { ...configMap("ns/a", 1, { managedFields: [{}] }), data: { key: "value" } };
    wrote(object);
    object.data.key = "other";
    expect(store.get({ namespace: "ns", name: "a" })?.object).toEqual({
      ...configMap("ns/a", 1),
      data: { key: "value" },
    });
  });

  test.each([
    ["of another resource", { ...CONFIG_MAPS, plural: "secrets" }, configMap("ns/a", 1)],
    ["of another group", { ...CONFIG_MAPS, group: "example.com" }, configMap("ns/a", 1)],
    ["of another kind, as subresources return", CONFIG_MAPS, { ...configMap("ns/a", 1), kind: "Scale" }],
    ["of another version", CONFIG_MAPS, { ...configMap("ns/a", 1), apiVersion: "v2" }],
    ["in a namespace that is not cached", CONFIG_MAPS, configMap("elsewhere/a", 1)],
  ])("%s is none of the cache's business", (_, resource, object) => {
    const { store, merge } = writing();
    merge({ type: "written", resource, object });
    expect(store.size).toBe(0);
  });
});

describe("a delete", () => {
  test("is visible at once, and late events do not undo it", () => {
    const { store, scope, emitted, deleted } = writing();
    scope.put(entry("ns/a", 5));
    deleted("a", "uid-a");
    expect(emitted()).toEqual(["added ns/a@5 watch", "deleted ns/a@5 write"]);
    scope.put(entry("ns/a", 6));
    scope.remove(entry("ns/a", 7));
    expect([emitted(), store.tombstones.size]).toEqual([[], 0]);
  });

  test("is not undone by the response of an earlier write", () => {
    const { store, deleted, wrote } = writing();
    deleted("a", "uid-a");
    wrote(configMap("ns/a", 6));
    expect(store.size).toBe(0);
  });

  test("does not affect an object that has since been created under the name", () => {
    const { store, scope, deleted } = writing();
    scope.put(entry("ns/a", 5, { uid: "second" }));
    deleted("a", "first");
    expect(held(store)).toEqual(["ns/a@5"]);
    scope.put(entry("ns/a", 6, { uid: "second" }));
    expect(held(store)).toEqual(["ns/a@6"]);
  });

  test("without a known uid is left to the watch", () => {
    const { store, scope, deleted } = writing();
    scope.put(entry("ns/a", 5));
    deleted("a");
    expect(held(store)).toEqual(["ns/a@5"]);
  });

  test("outside the cached namespaces has no effect", () => {
    const { store, merge } = writing();
    merge({ type: "gone", resource: CONFIG_MAPS, key: { namespace: "elsewhere", name: "a" }, uid: "u" });
    expect(store.tombstones.size).toBe(0);
  });
});

describe("a cache with a selection", () => {
  const on = { labels: { state: "on" } };
  const off = { labels: { state: "off" } };

  test("removes an object that a write takes out of the selection, despite late events", () => {
    const { store, scope, emitted, wrote } = writing({ selector: "state=on" });
    scope.put(entry("ns/a", 5, on));
    wrote(configMap("ns/a", 8, off));
    expect(emitted()).toEqual(["added ns/a@5 watch", "deleted ns/a@5 write"]);
    scope.put(entry("ns/a", 6, on));
    scope.remove(entry("ns/a", 8, off));
    expect(emitted()).toEqual([]);
    expect(store.tombstones.size).toBe(0);
    scope.put(entry("ns/a", 9, on));
    expect(emitted()).toEqual(["added ns/a@9 watch"]);
  });

  test("a write that selects it again is not undone by the older removal", () => {
    const { store, scope, wrote } = writing({ selector: "state=on" });
    scope.put(entry("ns/a", 5, on));
    wrote(configMap("ns/a", 9, on));
    scope.remove(entry("ns/a", 7, off));
    scope.put(entry("ns/a", 9, on));
    expect(held(store)).toEqual(["ns/a@9"]);
  });

  test("never adds an object that does not match", () => {
    const { store, wrote } = writing({ selector: "state=on" });
    wrote(configMap("ns/a", 8, off));
    expect(store.size).toBe(0);
  });

  test("with a field selector merges only objects that the server has selected", () => {
    const { store, scope, wrote } = writing({ hasFieldSelector: true });
    scope.put(entry("ns/a", 5));
    wrote(configMap("ns/a", 6));
    wrote(configMap("ns/b", 7));
    expect(held(store)).toEqual(["ns/a@6"]);
  });
});
