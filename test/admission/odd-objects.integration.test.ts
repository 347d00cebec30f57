// Objects that look odd but are stored, through their whole life and with webhooks on and off: whatever a schema admits can be
// labelled, changed and, above all, deleted. Finalizers are removed as the operator removes them, by a patch of metadata.
import { type Api, openApiFromKubeconfig, valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { createNamespace } from "../harness/control-plane/requests.ts";
import { KINDS, type KindName, manifest, SMALLEST } from "../harness/fixtures/manifests.ts";
import { openWebhookHarness, type WebhookHarness } from "./support/webhook-harness.ts";

const HOLD = ["example.com/hold"];
/** A change of the spec that nothing is wrong with. */
const EDIT: Readonly<Record<KindName, object>> = {
  FireboltEngine: { replicas: 2 },
  FireboltEngineClass: { template: { spec: { priorityClassName: "low" } } },
  FireboltInstance: { gateway: { replicas: 2 } },
};
const contentType = "application/merge-patch+json";

let harness: WebhookHarness;
let api: Api;
const namespaces = { on: "", off: "" };
beforeAll(async () => {
  api = openApiFromKubeconfig(inject("adminKubeconfig"));
  harness = await openWebhookHarness("odd-on");
  namespaces.on = harness.namespace;
  namespaces.off = await createNamespace("odd-off");
});
afterAll(async () => {
  api?.close();
  await harness?.[Symbol.asyncDispose]();
});

const collection = (kind: KindName, namespace: string): string => {
  const { group, version, plural } = KINDS[kind];
  return `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
};

/** Creates the object with a finalizer in place, as the operator would soon add it. */
async function create(kind: KindName, webhooks: "on" | "off", name: string, spec: unknown): Promise<string> {
  const namespace = namespaces[webhooks];
  const object = manifest(kind, { name, namespace }, spec);
  const body = { ...object, metadata: { ...object.metadata, finalizers: HOLD } };
  const path = collection(kind, namespace);
  await api.expect({ method: "POST", path: `${path}?fieldValidation=Strict`, body });
  return `${path}/${name}`;
}

const patch = async (path: string, body: object): Promise<unknown> => {
  const answer = await api.send({ method: "PATCH", path, body, contentType });
  return answer.status === 200 ? 200 : [answer.status, valueAt(answer.body, ["message"])];
};

/** A label, a deletion, a label again, and the finalizer away: nothing may stop it. */
async function expectDeletable(path: string): Promise<void> {
  expect(await patch(path, { metadata: { labels: { team: "data" } } })).toBe(200);
  expect((await api.send({ method: "DELETE", path })).status).toBe(200);
  expect(await patch(path, { metadata: { labels: { team: "gone" } } })).toBe(200);
  expect(await patch(path, { metadata: { finalizers: null } })).toBe(200);
  expect((await api.send({ path })).status).toBe(404);
}

describe.each(["on", "off"] as const)("webhooks %s", (webhooks) => {
  test.each(["FireboltEngine", "FireboltEngineClass"] as const)(
    "%s without spec: labelled, given a spec, robbed of it, deleted",
    async (kind) => {
      const path = await create(kind, webhooks, "bare", undefined);
      expect(await patch(path, { metadata: { annotations: { "example.com/a": "b" } } })).toBe(200);
      expect(await patch(path, { spec: SMALLEST[kind] })).toBe(200);
      expect(await patch(path, { spec: null })).toBe(200);
      expect(valueAt((await api.expect({ path })).body, ["spec"])).toBeUndefined();
      await expectDeletable(path);
    },
  );

  test("FireboltInstance without spec does not come into being", async () => {
    const body = manifest("FireboltInstance", { name: "bare", namespace: namespaces[webhooks] }, undefined);
    const path = collection("FireboltInstance", namespaces[webhooks]);
    expect((await api.send({ method: "POST", path, body })).status).toBe(422);
  });

  test.each(["FireboltEngine", "FireboltEngineClass", "FireboltInstance"] as const)(
    "%s: a spec is changed and removed while the object is on its way out",
    async (kind) => {
      const path = await create(kind, webhooks, "leaving", SMALLEST[kind]);
      expect((await api.send({ method: "DELETE", path })).status).toBe(200);
      if (kind !== "FireboltInstance") expect(await patch(path, { spec: null })).toBe(200);
      expect(await patch(path, { metadata: { finalizers: null } })).toBe(200);
      expect((await api.send({ path })).status).toBe(404);
    },
  );
});

describe("names that do not fit what is made from them", () => {
  const LONG: Readonly<Record<KindName, { readonly name: string; readonly says: RegExp | undefined }>> = {
    FireboltEngine: {
      name: "e".repeat(64),
      says: /metadata\.name: Invalid value: .* has 64 characters, at most 45 are/,
    },
    FireboltInstance: {
      name: "i".repeat(64),
      says: /metadata\.name: Invalid value: .* has 64 characters, at most 40 are/,
    },
    // Nothing is named or labelled after a class.
    FireboltEngineClass: { name: "c".repeat(253), says: undefined },
  };

  test.each(Object.entries(LONG).map(([kind, long]) => ({ kind: kind as KindName, ...long })))(
    "$kind: rejected on creation, but a stored one can be changed and deleted",
    async ({ kind, name, says }) => {
      const body = manifest(kind, { name, namespace: namespaces.on }, SMALLEST[kind]);
      const path = `${collection(kind, namespaces.on)}?dryRun=All`;
      const answer = await api.send({ method: "POST", path, body });
      expect(answer.status).toBe(says === undefined ? 201 : 403);
      if (says !== undefined) expect(valueAt(answer.body, ["message"])).toMatch(says);
      let stored = "";
      await using _later = await openWebhookHarness("odd-long", {
        async prepare(_api, namespace) {
          namespaces.off = namespace;
          stored = await create(kind, "off", name, SMALLEST[kind]);
        },
      });
      expect(await patch(stored, { spec: EDIT[kind] })).toBe(200);
      await expectDeletable(stored);
    },
  );
});

test("what was stored without a spec while webhooks were off is validated and deleted after they are on", async () => {
  const paths: string[] = [];
  await using later = await openWebhookHarness("odd-later", {
    async prepare(_api, namespace) {
      namespaces.off = namespace;
      paths.push(await create("FireboltEngine", "off", "bare", undefined));
      paths.push(await create("FireboltEngineClass", "off", "bare", undefined));
    },
  });
  const refused = { spec: { template: { spec: { hostNetwork: true } } } };
  expect(later.namespace).toBe(namespaces.off);
  for (const path of paths) {
    const spec = path.includes("fireboltengines/") ? { ...SMALLEST.FireboltEngine, ...refused.spec } : refused.spec;
    expect(await patch(path, { spec })).toEqual([403, expect.stringContaining("hostNetwork")]);
    await expectDeletable(path);
  }
});
