// Every verb of the client against a real API server: what it stores, what it rejects, and the error.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RequestInfo } from "../../src/client/calls.ts";
import type { AcceptedWrite, KubeClient } from "../../src/client/client.ts";
import {
  isAlreadyExists,
  isConflict,
  isFieldConflict,
  isInvalid,
  isNotFound,
  KubeApiError,
  NotLeaderError,
} from "../../src/core/errors.ts";
import type { KubeObject } from "../../src/core/object.ts";
import { defineResource } from "../../src/core/resource.ts";
import { ConfigMap } from "../../src/kinds/index.ts";
import { createNamespace } from "../support/cluster.ts";
import { testClient } from "../support/test-client.ts";

const StatefulSet = defineResource<KubeObject & { spec?: { replicas?: number }; status?: { replicas: number } }>({
  group: "apps",
  version: "v1",
  kind: "StatefulSet",
  plural: "statefulsets",
  namespaced: true,
});

let client: KubeClient;
let namespace: string;
const requests: RequestInfo[] = [];
const writes: AcceptedWrite[] = [];

beforeAll(async () => {
  namespace = await createNamespace("client");
  client = await testClient({ onRequest: (info) => requests.push(info) });
  client.onWrite((write) => writes.push(write));
});
afterAll(() => client.close());

const key = (name: string) => ({ namespace, name });
const configMap = (name: string, data: Record<string, string>, labels?: Record<string, string>) => ({
  metadata: { ...key(name), ...(labels && { labels }) },
  data,
});
function statefulSet(name: string) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
  return {
    metadata: key(name),
    spec: { serviceName: name, replicas: 0, selector: { matchLabels: labels }, template },
  };
}
const refusal = async (call: Promise<unknown>): Promise<KubeApiError> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(KubeApiError);
  return error as KubeApiError;
};

test("create, get, find, replace with the version that was read", async () => {
  const created = await client.create(ConfigMap, configMap("crud", { a: "1" }));
  expect(created).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { a: "1" } });
  expect(await client.get(ConfigMap, key("crud"))).toEqual(created);
  expect(await client.find(ConfigMap, key("crud"))).toEqual(created);
  expect(await client.find(ConfigMap, key("nobody"))).toBeUndefined();
  const replaced = await client.replace(ConfigMap, { ...created, data: { a: "2" } });
  expect(replaced.data).toEqual({ a: "2" });
  expect(isConflict(await refusal(client.replace(ConfigMap, { ...created, data: { a: "3" } })))).toBe(true);
  expect(isAlreadyExists(await refusal(client.create(ConfigMap, configMap("crud", {}))))).toBe(true);
  const missing = await refusal(client.get(ConfigMap, key("nobody")));
  expect(isNotFound(missing)).toBe(true);
  expect(missing.message).toBe(
    `GET /api/v1/namespaces/${namespace}/configmaps/nobody: 404 NotFound: configmaps "nobody" not found`,
  );
});

test("listeners receive writes before the call returns, as stored by the server, but not dry runs", async () => {
  writes.length = 0;
  await client.apply(ConfigMap, configMap("listened", { a: "1" }), { fieldManager: "m", dryRun: true });
  expect(writes).toEqual([]);
  expect(await client.find(ConfigMap, key("listened"))).toBeUndefined();
  const stored = await client.apply(ConfigMap, configMap("listened", { a: "1" }), { fieldManager: "m" });
  expect(writes).toEqual([{ type: "written", resource: ConfigMap, object: stored }]);
  expect(stored.metadata?.resourceVersion).toMatch(/^\d+$/);
});

test("patches of every type", async () => {
  await client.create(ConfigMap, configMap("patched", { a: "1", b: "1" }));
  const merge = { type: "merge", body: { data: { a: null, c: "漢" } } } as const;
  expect((await client.patch(ConfigMap, key("patched"), merge)).data).toEqual({ b: "1", c: "漢" });
  const json = { type: "json", body: [{ op: "replace", path: "/data/b", value: "2" }] } as const;
  expect((await client.patch(ConfigMap, key("patched"), json)).data).toEqual({ b: "2", c: "漢" });
  const wrong = { type: "json", body: [{ op: "test", path: "/data/b", value: "9" }] } as const;
  expect(isInvalid(await refusal(client.patch(ConfigMap, key("patched"), wrong)))).toBe(true);
  await client.create(StatefulSet, statefulSet("patched"));
  const strategic = {
    type: "strategic",
    body: { spec: { template: { spec: { containers: [{ name: "side", image: "s" }] } } } },
  } as const;
  const merged = await client.patch(StatefulSet, key("patched"), strategic);
  expect(merged).toMatchObject({ spec: { template: { spec: { containers: [{ name: "side" }, { name: "c" }] } } } });
});

test("apply owns what it sends: omitted fields are removed, and conflicts name the other manager", async () => {
  await client.apply(ConfigMap, configMap("owned", { a: "1", b: "1" }), { fieldManager: "first" });
  const less = await client.apply(ConfigMap, configMap("owned", { a: "2" }), { fieldManager: "first" });
  expect(less.data).toEqual({ a: "2" });
  const other = client.apply(ConfigMap, configMap("owned", { a: "3" }), { fieldManager: "second" });
  const conflict = await refusal(other);
  expect([isFieldConflict(conflict), isConflict(conflict)]).toEqual([true, false]);
  expect(conflict.causes).toEqual([
    { reason: "FieldManagerConflict", message: 'conflict with "first"', field: ".data.a" },
  ]);
  const forced = await client.apply(ConfigMap, configMap("owned", { a: "3" }), { fieldManager: "second", force: true });
  expect(forced.data).toEqual({ a: "3" });
});

test("strict validation names the unknown field", async () => {
  const object = { ...statefulSet("strict"), spec: { ...statefulSet("strict").spec, replica: 1 } };
  const error = await refusal(client.create(StatefulSet, object, { fieldValidation: "Strict" }));
  expect(error).toMatchObject({ status: 400, reason: "BadRequest" });
  expect(error.message).toContain('unknown field "spec.replica"');
});

test("an invalid object is rejected with the field as the cause", async () => {
  const object = { ...statefulSet("invalid"), spec: { ...statefulSet("invalid").spec, replicas: -1 } };
  const error = await refusal(client.create(StatefulSet, object));
  expect(isInvalid(error)).toBe(true);
  expect(error.causes).toMatchObject([{ field: "spec.replicas" }]);
});

test("subresources: status is a version of the object, scale is not", async () => {
  const created = await client.create(StatefulSet, statefulSet("sub"));
  writes.length = 0;
  const status = await client.patch(
    StatefulSet,
    key("sub"),
    { type: "merge", body: { spec: { replicas: 9 }, status: { replicas: 3 } } },
    { subresource: "status" },
  );
  expect(status).toMatchObject({ status: { replicas: 3 }, spec: { replicas: 0 } });
  expect(status.metadata?.generation).toBe(created.metadata?.generation);
  expect(writes).toEqual([{ type: "written", resource: StatefulSet, object: status }]);
  const scale = { type: "merge", body: { spec: { replicas: 2 } } } as const;
  expect(await client.patch(StatefulSet, key("sub"), scale, { subresource: "scale" })).toMatchObject({ kind: "Scale" });
  expect(writes).toHaveLength(1);
  expect((await client.get(StatefulSet, key("sub"))).spec?.replicas).toBe(2);
});

test("lists: selectors, pages, and items with their kind", async () => {
  const names = Array.from({ length: 25 }, (_, index) => `page-${String(index).padStart(2, "0")}`);
  await Promise.all(
    names.map((name, i) => client.create(ConfigMap, configMap(name, {}, { page: "yes", odd: String(i % 2) }))),
  );
  const labelSelector = "page=yes";
  const page = await client.list(ConfigMap, { namespace, labelSelector, limit: 10 });
  expect(page.items).toHaveLength(10);
  expect(page.metadata.continue).toBeTruthy();
  expect(page.items[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
  requests.length = 0;
  const all = await client.listAll(ConfigMap, { namespace, labelSelector, limit: 10 });
  expect(all.items.map((item) => item.metadata?.name)).toEqual(names);
  expect(all.metadata.resourceVersion).toMatch(/^\d+$/);
  expect(requests.map(({ verb, code, resource }) => ({ verb, code, resource }))).toEqual(
    Array(3).fill({ verb: "list", code: "200", resource: "configmaps" }),
  );
  expect((await client.listAll(ConfigMap, { labelSelector: "page=yes,odd in (1)" })).items).toHaveLength(12);
  const byName = await client.list(ConfigMap, { namespace, fieldSelector: "metadata.name=page-07" });
  expect(byName.items).toHaveLength(1);
});

test("a watch delivers changes, and a bookmark terminates the initial events", async () => {
  await client.create(ConfigMap, configMap("watched", { a: "1" }));
  const abort = new AbortController();
  const fieldSelector = "metadata.name=watched";
  const seen: string[] = [];
  const watch = { signal: abort.signal, namespace, fieldSelector, timeoutSeconds: 60, idleTimeoutMs: 30_000 };
  for await (const event of client.watch(ConfigMap, { ...watch, sendInitialEvents: true })) {
    seen.push(event.type);
    if (event.type === "BOOKMARK") {
      expect(event.object.metadata?.annotations).toHaveProperty(["k8s.io/initial-events-end"], "true");
      await client.patch(ConfigMap, key("watched"), { type: "merge", body: { data: { a: "2" } } });
      await client.delete(ConfigMap, key("watched"));
    }
    if (event.type === "DELETED") break;
  }
  expect(seen).toEqual(["ADDED", "BOOKMARK", "MODIFIED", "DELETED"]);
});

test("the server closes a watch in time, and rejects an invalid one", async () => {
  const { signal } = new AbortController();
  const options = { signal, namespace, timeoutSeconds: 1, idleTimeoutMs: 30_000 };
  for await (const event of client.watch(ConfigMap, { ...options, fieldSelector: "metadata.name=none" }))
    expect(event.type).toBe("BOOKMARK");
  const wrong = client.watch(ConfigMap, { ...options, labelSelector: "a=(" })[Symbol.asyncIterator]();
  expect(await refusal(wrong.next())).toMatchObject({ status: 400, reason: "BadRequest" });
});

test("raw requests: discovery and reviews", async () => {
  expect(await client.request({ method: "GET", path: "/apis/apps/v1" })).toMatchObject({ kind: "APIResourceList" });
  const review = await client.request({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/tokenreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "nonsense" } },
  });
  expect(review).toMatchObject({ kind: "TokenReview", status: { error: expect.any(String) } });
});

test("a client that may not write stores nothing", async () => {
  let leader = true;
  const guarded = await testClient({
    guardWrite: () => {
      if (!leader) throw new NotLeaderError("another process holds the lease");
    },
  });
  await guarded.create(ConfigMap, configMap("guarded", { a: "1" }));
  leader = false;
  const attempts = await Promise.allSettled([
    guarded.create(ConfigMap, configMap("guarded-2", {})),
    guarded.replace(ConfigMap, configMap("guarded", {})),
    guarded.patch(ConfigMap, key("guarded"), { type: "merge", body: { data: { a: "2" } } }),
    guarded.apply(ConfigMap, configMap("guarded", { a: "2" }), { fieldManager: "m", force: true }),
    guarded.delete(ConfigMap, key("guarded")),
    guarded.request({ method: "DELETE", path: `/api/v1/namespaces/${namespace}/configmaps/guarded` }),
  ]);
  for (const attempt of attempts)
    expect(attempt).toMatchObject({ status: "rejected", reason: expect.any(NotLeaderError) });
  expect((await guarded.get(ConfigMap, key("guarded"))).data).toEqual({ a: "1" });
  expect(await guarded.find(ConfigMap, key("guarded-2"))).toBeUndefined();
  guarded.close();
});

test("more concurrent calls than connections: all complete", async () => {
  const narrow = await testClient({ maxSockets: 2 });
  const names = Array.from({ length: 20 }, (_, index) => `turn-${index}`);
  await Promise.all(names.map((name) => narrow.create(ConfigMap, configMap(name, {}))));
  const found = await Promise.all(names.map((name) => narrow.find(ConfigMap, key(name))));
  expect(found.map((one) => one?.metadata?.name)).toEqual(names);
  narrow.close();
});
