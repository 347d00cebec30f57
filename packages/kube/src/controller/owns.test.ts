import { expect, test } from "vitest";
import { formatKey, type OwnerReference } from "../core/object.ts";
import { defineResource } from "../core/resource.ts";
import { ConfigMap, Deployment, Node, type V1ConfigMap } from "../kinds/index.ts";
import { MemoryCache } from "../testing/memory-cache.ts";
import { owns } from "./owns.ts";

const reference = (more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  name: "web",
  uid: "1",
  controller: true,
  ...more,
});
const child = (...ownerReferences: OwnerReference[]): V1ConfigMap => ({
  metadata: { namespace: "a", name: "child", ownerReferences },
});

/** The keys that an event of this child enqueues. */
function enqueued(object: V1ConfigMap, owner = Deployment as Parameters<typeof owns>[1]): readonly string[] {
  const cache = new MemoryCache(ConfigMap);
  const keys: string[] = [];
  owns(cache, owner).start((key) => keys.push(formatKey(key)));
  cache.put(object);
  return keys;
}

test.each([
  { name: "a child enqueues its controller owner", object: child(reference()), want: ["a/web"] },
  {
    name: "an owner that is not the controller is not enqueued",
    object: child(reference({ controller: false })),
    want: [],
  },
  {
    name: "of several owners only the controller is enqueued",
    object: child(reference({ controller: false, name: "x" }), reference()),
    want: ["a/web"],
  },
  { name: "an owner of another kind is not enqueued", object: child(reference({ kind: "ReplicaSet" })), want: [] },
  {
    name: "the same kind of another group is not enqueued",
    object: child(reference({ apiVersion: "example.com/v1" })),
    want: [],
  },
  {
    name: "the same kind of another version is enqueued",
    object: child(reference({ apiVersion: "apps/v2" })),
    want: ["a/web"],
  },
  { name: "an object without owners enqueues nothing", object: child(), want: [] },
])("$name", ({ object, want }) => {
  expect(enqueued(object)).toEqual(want);
});

test("an owner in the core group, and one without a namespace", () => {
  const node = reference({ apiVersion: "v1", kind: "Node", name: "node-1" });
  expect(enqueued(child(node), Node)).toEqual(["node-1"]);
  const other = defineResource({ ...Node, group: "example.com" });
  expect(enqueued(child(node), other)).toEqual([]);
});

test("a child that changes its owner enqueues both owners", () => {
  const keys: string[] = [];
  const source = owns(
    {
      ...new MemoryCache(ConfigMap),
      type: ConfigMap,
      onEvent: (listener) => {
        const next = child(reference({ name: "new" }));
        listener({ type: "modified", object: next, previous: child(reference({ name: "old" })), origin: "watch" });
        return () => undefined;
      },
    } as MemoryCache<V1ConfigMap>,
    Deployment,
  );
  source.start((key) => keys.push(formatKey(key)));
  expect(keys).toEqual(["a/new", "a/old"]);
});
