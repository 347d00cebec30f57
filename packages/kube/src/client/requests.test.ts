// The HTTP request of each verb.
import { expect, test } from "vitest";
import type { KubeObject } from "../core/object.ts";
import { defineResource } from "../core/resource.ts";
import { deleteCall, listCall, patchCall, proxyCall, rawCall, watchCall, withQuery, writeCall } from "./requests.ts";

const ConfigMap = defineResource<KubeObject & { data?: Record<string, string> }>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});
const object = { metadata: { namespace: "ns", name: "a" }, data: { k: "v" } };
const key = { namespace: "ns", name: "a" };
const { signal } = new AbortController();

test("queries omit empty values and escape the others", () => {
  expect(withQuery("/x", { a: undefined, b: "", c: false, d: "k in (1,2)", e: 5, f: true })).toBe(
    "/x?d=k%20in%20(1%2C2)&e=5&f=true",
  );
  expect(withQuery("/x?y=1", { z: 2 })).toBe("/x?y=1&z=2");
});

test("list and watch", () => {
  expect(listCall(ConfigMap, { labelSelector: "a=b", limit: 5 }).path).toBe(
    "/api/v1/configmaps?labelSelector=a%3Db&limit=5",
  );
  const watch = { signal, namespace: "ns", timeoutSeconds: 300, idleTimeoutMs: 1 };
  expect(watchCall(ConfigMap, { ...watch, resourceVersion: "7" }).path).toBe(
    "/api/v1/namespaces/ns/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300",
  );
  expect(watchCall(ConfigMap, { ...watch, sendInitialEvents: true }).path).toContain(
    "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&",
  );
});

test("a metadata-only kind requests only metadata", () => {
  const type = { ...ConfigMap, metadataOnly: true } as const;
  expect(listCall(type, {}).accept).toBe("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  expect(watchCall(type, { signal, timeoutSeconds: 300, idleTimeoutMs: 1 }).accept).toBe(
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  );
  expect(listCall(ConfigMap, {}).accept).toBeUndefined();
});

test("apply sends the object with its type, the manager and force", () => {
  const call = writeCall("apply", ConfigMap, { object, options: { fieldManager: "me", force: true } });
  expect(call).toMatchObject({
    method: "PATCH",
    path: "/api/v1/namespaces/ns/configmaps/a?fieldManager=me&force=true",
    contentType: "application/apply-patch+yaml",
    write: true,
  });
  expect(JSON.parse(call.body ?? "")).toEqual({ apiVersion: "v1", kind: "ConfigMap", ...object });
});

test("create is sent to the collection, or to a subresource of the object", () => {
  expect(writeCall("create", ConfigMap, { object, options: { dryRun: true } }).path).toBe(
    "/api/v1/namespaces/ns/configmaps?dryRun=All",
  );
  expect(writeCall("create", ConfigMap, { object, options: { subresource: "eviction" } }).path).toBe(
    "/api/v1/namespaces/ns/configmaps/a/eviction",
  );
  expect(() => writeCall("create", ConfigMap, { object: { metadata: { name: "a" } }, options: {} })).toThrow(
    "ConfigMap a needs a namespace",
  );
});

test.each([
  { type: "merge", body: {}, want: "application/merge-patch+json" },
  { type: "json", body: [], want: "application/json-patch+json" },
  { type: "strategic", body: {}, want: "application/strategic-merge-patch+json" },
] as const)("a $type patch", ({ want, ...patch }) => {
  const call = patchCall(ConfigMap, key, { patch, options: { subresource: "status" } });
  expect(call).toMatchObject({ contentType: want, path: "/api/v1/namespaces/ns/configmaps/a/status" });
});

test("delete carries preconditions and propagation in its body", () => {
  const call = deleteCall(ConfigMap, key, { uid: "u", resourceVersion: "9", propagation: "Foreground", dryRun: true });
  expect(JSON.parse(call.body ?? "")).toEqual({
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid: "u", resourceVersion: "9" },
    propagationPolicy: "Foreground",
    dryRun: ["All"],
  });
  expect(JSON.parse(deleteCall(ConfigMap, key, {}).body ?? "")).toEqual({ apiVersion: "v1", kind: "DeleteOptions" });
});

test("names are escaped in the path", () => {
  const request = { namespace: "a/b", pod: "p?x", port: 8122, path: "metrics?all=1" };
  expect(proxyCall(request).path).toBe("/api/v1/namespaces/a%2Fb/pods/p%3Fx:8122/proxy/metrics?all=1");
});

test.each([
  { method: "GET", write: false },
  { method: "HEAD", write: false },
  { method: "POST", write: true },
  { method: "DELETE", write: true },
])("a raw $method is a write: $write", ({ method, write }) => {
  expect(rawCall({ method, path: "/x" }).write).toBe(write);
});
