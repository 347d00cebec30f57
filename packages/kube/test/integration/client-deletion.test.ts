// The result of a delete for each kind of object. The API server returns a Status, the object as it was, or the object
// as it stays; the client must distinguish these, because caches remove an object accordingly.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AcceptedWrite, DeleteOptions, KubeClient } from "../../src/client/client.ts";
import { isConflict, isNotFound } from "../../src/core/errors.ts";
import { formatKey, type KubeObject } from "../../src/core/object.ts";
import { defineResource, type ResourceType } from "../../src/core/resource.ts";
import { ConfigMap } from "../../src/kinds/index.ts";
import { createNamespace, eventually, uniqueNamespace } from "../support/cluster.ts";
import { Pod, Secret, ServiceAccount, testClient } from "../support/test-client.ts";

type Anything = KubeObject & { spec?: object };
const kind = (group: string, name: string, plural: string): ResourceType<Anything> =>
  defineResource<Anything>({ group, version: "v1", kind: name, plural, namespaced: true });
const StatefulSet = kind("apps", "StatefulSet", "statefulsets");
const Service = kind("", "Service", "services");
const Thing = kind("client-deletion.test", "Thing", "things");
const Namespace = defineResource<Anything>({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});

const labels = { app: "x" };
const podSpec = { containers: [{ name: "c", image: "i" }] };
const HELD = ["test.example/hold"];

let client: KubeClient;
let namespace: string;
const writes: AcceptedWrite[] = [];

beforeAll(async () => {
  namespace = await createNamespace("deletion");
  client = await testClient();
  client.onWrite((write) => writes.push(write));
  // Without a controller manager there is no default service account.
  await client.apply(ServiceAccount, { metadata: { namespace, name: "default" } }, { fieldManager: "test" });
  await client.request({
    method: "POST",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    body: {
      metadata: { name: "things.client-deletion.test" },
      spec: {
        group: "client-deletion.test",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    },
  });
  await eventually(() => client.list(Thing, { namespace }), { describe: "the custom resource is served" });
});
afterAll(() => client.close());

interface Case {
  readonly name: string;
  readonly type: ResourceType<Anything>;
  readonly object?: { readonly finalizers?: string[]; readonly spec?: object };
  readonly options?: DeleteOptions;
  readonly want: "gone" | "terminating";
}

const sts = {
  spec: { serviceName: "x", selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
};
const onNode = { spec: { ...podSpec, nodeName: "n" } };

describe.each<Case>([
  { name: "config map", type: ConfigMap, want: "gone" },
  { name: "config map with a finalizer", type: ConfigMap, object: { finalizers: HELD }, want: "terminating" },
  { name: "secret", type: Secret, want: "gone" },
  {
    name: "service (returns the object as it was)",
    type: Service,
    object: { spec: { ports: [{ port: 1 }] } },
    want: "gone",
  },
  { name: "service account (the same)", type: ServiceAccount, want: "gone" },
  { name: "pod on no node", type: Pod, object: { spec: podSpec }, want: "gone" },
  { name: "pod on a node", type: Pod, object: onNode, want: "terminating" },
  { name: "pod on a node, at once", type: Pod, object: onNode, options: { gracePeriodSeconds: 0 }, want: "gone" },
  { name: "stateful set", type: StatefulSet, object: sts, want: "gone" },
  {
    name: "stateful set in the background",
    type: StatefulSet,
    object: sts,
    options: { propagation: "Background" },
    want: "gone",
  },
  {
    name: "stateful set in the foreground",
    type: StatefulSet,
    object: sts,
    options: { propagation: "Foreground" },
    want: "terminating",
  },
  {
    name: "stateful set with orphans",
    type: StatefulSet,
    object: sts,
    options: { propagation: "Orphan" },
    want: "terminating",
  },
  { name: "custom resource", type: Thing, want: "gone" },
  { name: "custom resource with a finalizer", type: Thing, object: { finalizers: HELD }, want: "terminating" },
  {
    name: "custom resource in the foreground",
    type: Thing,
    options: { propagation: "Foreground" },
    want: "terminating",
  },
])("a $name", ({ type, object = {}, options = {}, want, name }) => {
  test(`is ${want}`, async () => {
    const key = { namespace, name: name.replaceAll(/[^a-z]+/g, "-").replaceAll(/^-|-$/g, "") };
    const { finalizers, spec } = object;
    const created = await client.create(type, {
      metadata: { ...key, ...(finalizers && { finalizers }) },
      ...(spec && { spec }),
    });
    const dry = await client.delete(type, key, { ...options, dryRun: true });
    writes.length = 0;
    const result = await client.delete(type, key, options);
    expect({ dry: dry.type, real: result.type }).toEqual({ dry: want, real: want });
    const left = await client.find(type, key);
    const uid = created.metadata?.uid;
    if (result.type === "gone") {
      expect(left).toBeUndefined();
      expect(writes).toEqual([{ type: "gone", resource: type, key, uid }]);
    } else {
      expect(left).toEqual(result.object);
      expect(writes).toEqual([{ type: "written", resource: type, object: left }]);
      expect(left?.metadata).toMatchObject({ uid, deletionTimestamp: expect.any(String) });
    }
  });
});

test("an update that removes the last finalizer deletes the object", async () => {
  const key = { namespace, name: "finalized" };
  const created = await client.create(Thing, { metadata: { ...key, finalizers: HELD } });
  await client.delete(Thing, key);
  writes.length = 0;
  await client.patch(Thing, key, { type: "merge", body: { metadata: { finalizers: null } } });
  expect(writes).toEqual([{ type: "gone", resource: Thing, key, uid: created.metadata?.uid }]);
  expect(await client.find(Thing, key)).toBeUndefined();
});

test("a namespace stays until its own finalizer is done", async () => {
  const key = { name: uniqueNamespace("deletion") };
  await client.create(Namespace, { metadata: key });
  expect((await client.delete(Namespace, key)).type).toBe("terminating");
  expect(await client.find(Namespace, key)).toBeDefined();
});

test("preconditions: another object of the same name, another version of it, nothing of the name", async () => {
  const key = { namespace, name: "conditions" };
  const first = await client.create(ConfigMap, { metadata: key });
  const { uid = "", resourceVersion = "" } = first.metadata ?? {};
  const refusals: unknown[] = [];
  for (const options of [{ uid: "5d1ec1ce-0000-4000-8000-000000000000" }, { uid, resourceVersion: "1" }])
    refusals.push(await client.delete(ConfigMap, key, options).catch((error: unknown) => error));
  expect(refusals.map(isConflict)).toEqual([true, true]);
  expect(await client.find(ConfigMap, key), formatKey(key)).toBeDefined();
  expect(await client.delete(ConfigMap, key, { uid, resourceVersion })).toEqual({ type: "gone" });
  const again = await client.delete(ConfigMap, key, { uid }).catch((error: unknown) => error);
  expect(isNotFound(again)).toBe(true);
});
