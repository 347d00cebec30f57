import type { KubeObject } from "@firebolt-operator/kube";
import type { CacheEvent } from "@firebolt-operator/kube/cache";
import { describe, expect, test } from "vitest";
import type { FireboltInstance } from "../../api/firebolt-instance/instance.ts";
import { instanceOfChildEvent, instanceOfInstanceEvent } from "./triggers.ts";

const KEY = [{ namespace: "ns", name: "lakeside" }];

const instance = (metadata: object = {}, status: object = {}): FireboltInstance =>
  ({
    metadata: { namespace: "ns", name: "lakeside", uid: "u", generation: 1, resourceVersion: "1", ...metadata },
    spec: {},
    status,
  }) as FireboltInstance;

const modified = <T extends KubeObject>(previous: T, object: T, origin: "watch" | "write" = "watch") =>
  ({ type: "modified", object, previous, origin }) as CacheEvent<T>;

describe("events of an instance", () => {
  test.each([
    ["a spec edit", { generation: 2 }],
    ["a new annotation", { annotations: { "firebolt.io/reset-failed": "1" } }],
    ["a finalizer", { finalizers: ["x"] }],
    ["a deletion", { deletionTimestamp: "2026-01-01T00:00:00Z" }],
    ["another instance of the name", { uid: "v" }],
  ])("%s triggers a reconcile", (_, metadata) => {
    expect(instanceOfInstanceEvent(modified(instance(), instance(metadata)))).toEqual(KEY);
  });

  test("a status of another writer triggers a reconcile, the operator's own does not", () => {
    const [before, after] = [instance(), instance({ resourceVersion: "2" }, { phase: "Degraded" })];
    expect(instanceOfInstanceEvent(modified(before, after))).toEqual(KEY);
    expect(instanceOfInstanceEvent(modified(before, after, "write"))).toEqual([]);
  });

  test("additions and deletions trigger a reconcile", () => {
    for (const type of ["added", "deleted"] as const)
      expect(instanceOfInstanceEvent({ type, object: instance(), origin: "watch" })).toEqual(KEY);
  });
});

describe("events of a child", () => {
  const child = (metadata: object, rest: object = {}): KubeObject => ({
    metadata: {
      namespace: "ns",
      name: "x",
      resourceVersion: "1",
      labels: { "firebolt.io/instance": "lakeside" },
      ...metadata,
    },
    ...rest,
  });

  test("a new version of the same content triggers nothing", () => {
    expect(instanceOfChildEvent(modified(child({}), child({ resourceVersion: "2" })))).toEqual([]);
  });

  test("a change of what the cache keeps triggers a reconcile", () => {
    const after = child({ resourceVersion: "2" }, { status: { readyReplicas: 1 } });
    expect(instanceOfChildEvent(modified(child({}), after, "write"))).toEqual(KEY);
  });

  test("a moved label concerns both instances", () => {
    const after = child({ labels: { "firebolt.io/instance": "hill" } });
    expect(instanceOfChildEvent(modified(child({}), after))).toEqual([{ namespace: "ns", name: "hill" }, ...KEY]);
  });

  test("an object without the label concerns no instance", () => {
    expect(instanceOfChildEvent({ type: "added", object: child({ labels: {} }), origin: "watch" })).toEqual([]);
  });
});
