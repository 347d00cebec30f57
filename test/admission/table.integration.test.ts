// Every invalid manifest of test/harness/fixtures through the real API server with the webhooks registered: rejected at
// the layer and with the message of the table. Rows of features that cannot be enabled yet are rejected by the CRD;
// their rule is tested by calling the webhook directly.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOOKS } from "../../src/admission/registration/hooks.ts";
import { NOT_AVAILABLE } from "../../src/api/schema/availability.ts";
import { type CustomResourceApi, openCustomResourceApi } from "../harness/control-plane/custom-resource-api.ts";
import { INVALID_MANIFESTS } from "../harness/fixtures/invalid-manifests.ts";
import { KINDS, type KindName, manifest, SMALLEST } from "../harness/fixtures/manifests.ts";
import { LOOKS_OWNED, OPERATOR_OWNED } from "../harness/fixtures/operator-owned-templates.ts";
import { post } from "./support/loopback.ts";
import { REFUSED_BY_WEBHOOK } from "./support/rejected-manifests.ts";
import { parseResponse, review } from "./support/review-fixtures.ts";
import { openWebhookHarness, type WebhookHarness } from "./support/webhook-harness.ts";

let harness: WebhookHarness;
let resources: CustomResourceApi;
beforeAll(async () => {
  harness = await openWebhookHarness("admission-table", { bounds: { cpu: "32", memory: "256Gi" } });
  resources = openCustomResourceApi();
});
afterAll(async () => {
  resources?.[Symbol.dispose]();
  await harness?.[Symbol.asyncDispose]();
});

const validatorOf = (kind: KindName) => {
  const hook = HOOKS.find((one) => one.type === "validating" && one.kind.kind === kind);
  if (hook === undefined) throw new Error(`no webhook for ${kind}`);
  return hook;
};
const make = (kind: KindName, spec: unknown, name = "x") =>
  manifest(kind, { name, namespace: harness.namespace }, spec);
const merged = (kind: KindName, spec: object | undefined) => ({ ...SMALLEST[kind], ...spec });

test.each(REFUSED_BY_WEBHOOK)("$kind with $what", async ({ kind, spec, says, code = 403, unavailable }) => {
  const object = make(kind, merged(kind, spec));
  const verdict = await resources.create(object);
  const hook = validatorOf(kind);
  if (unavailable !== true) {
    const prefix = `admission webhook "${hook.name}" denied the request: `;
    expect(verdict).toMatchObject({ type: "refused", status: code, message: expect.stringContaining(prefix) });
    if (verdict.type === "refused") expect(verdict.message.replace(prefix, "").replace(/^\[/, "")).toMatch(says);
    return;
  }
  expect(verdict).toMatchObject({ type: "refused", status: 422, message: expect.stringContaining(NOT_AVAILABLE) });
  const body = JSON.stringify(review(hook.id, { object, namespace: harness.namespace }));
  const answer = parseResponse((await post({ path: hook.path, body }, harness.port, harness.ca)).body);
  expect(answer).toMatchObject({ allowed: false, status: { code } });
  expect(answer.status?.message).toMatch(says);
});

test.each(INVALID_MANIFESTS)("schema, webhooks on: $kind with $what", async ({ kind, spec, whole, refuses }) => {
  const verdict = await resources.create(make(kind, whole === undefined ? merged(kind, spec) : whole.spec));
  expect(verdict).toMatchObject({ type: "refused", status: 422 });
  if (verdict.type !== "refused") return;
  for (const [field, says] of Object.entries(refuses))
    expect(verdict.causes.filter((cause) => cause.field === field).map(({ message }) => message)).toContainEqual(
      expect.stringMatching(says),
    );
});

describe("what needs other objects", () => {
  const limits = { spec: { containers: [{ name: "engine", resources: { limits: { memory: "300Gi" } } }] } };

  test("a bound that the class breaks, and the class itself is accepted", async () => {
    expect(await resources.create(make("FireboltEngineClass", { template: limits }, "large"))).toMatchObject({
      type: "accepted",
    });
    const spec = merged("FireboltEngine", { engineClassRef: "large" });
    expect(await resources.create(make("FireboltEngine", spec))).toMatchObject({
      type: "refused",
      status: 403,
      message: expect.stringMatching(
        /containers\[engine\]\.resources\.limits\[memory\]: Invalid value: "300Gi": exceeds the maximum 256Gi; inherited from FireboltEngineClass "large": set resources on the engine to override it$/,
      ),
    });
    const own = { spec: { containers: [{ name: "engine", resources: { limits: { memory: "256Gi" } } }] } };
    expect(await resources.create(make("FireboltEngine", { ...spec, template: own }, "own"))).toMatchObject({
      type: "accepted",
    });
  });

  test("Secrets of the instance, by volume and by variable", async () => {
    const created = await resources.create(make("FireboltInstance", SMALLEST.FireboltInstance, "secretive"));
    expect(created).toMatchObject({ type: "accepted" });
    if (created.type !== "accepted") return;
    const status = {
      auth: { signingKeys: [{ id: "signing-1", secretName: "the-keys", createdAt: "2026-01-01T00:00:00Z" }] },
    };
    const object = {
      ...make("FireboltInstance", created.object.spec, "secretive"),
      metadata: { ...created.object.metadata, name: "secretive", namespace: harness.namespace },
      status,
    };
    expect(await resources.replace(object, { status: true })).toMatchObject({ type: "accepted" });
    const attempt = (template: object) =>
      resources.create(make("FireboltEngine", { instanceRef: "secretive", replicas: 1, template }));
    expect(await attempt({ spec: { volumes: [{ name: "v", secret: { secretName: "the-keys" } }] } })).toMatchObject({
      type: "refused",
      message: expect.stringMatching(/spec\.template\.spec\.volumes\[0\]: Forbidden: .*"the-keys"/),
    });
    const env = [{ name: "P", valueFrom: { secretKeyRef: { name: "the-keys", key: "k" } } }];
    expect(await attempt({ spec: { containers: [{ name: "side", image: "i", env }] } })).toMatchObject({
      type: "refused",
      message: expect.stringMatching(/spec\.template\.spec\.containers\[0\]: Forbidden: .*"the-keys"/),
    });
    const other = { spec: { volumes: [{ name: "v", secret: { secretName: "another" } }] } };
    expect(await attempt(other)).toMatchObject({ type: "accepted" });
  });

  test("class-bound-since-last-count: a class that two engines refer to is not deleted; without them it is", async () => {
    const path = `/apis/compute.firebolt.io/v1alpha1/namespaces/${harness.namespace}`;
    await resources.create(make("FireboltEngineClass", { template: {} }, "bound"));
    for (const name of ["one", "two"])
      await resources.create(make("FireboltEngine", merged("FireboltEngine", { engineClassRef: "bound" }), name));
    const remove = (query = "") =>
      harness.api.send({ method: "DELETE", path: `${path}/fireboltengineclasses/bound${query}` });
    const refused = await remove();
    expect(refused).toMatchObject({
      status: 403,
      body: {
        message: `admission webhook "vfireboltengineclass.compute.firebolt.io" denied the request: metadata.name: Forbidden: FireboltEngineClass "bound" in namespace "${harness.namespace}" is still referenced by 2 engines (one, two): clear spec.engineClassRef there first, or delete them`,
        details: { causes: [{ field: "metadata.name" }] },
      },
    });
    expect((await remove("?dryRun=All")).status).toBe(403);
    // A deletecollection calls the webhook for each class of the namespace.
    expect(
      (
        await harness.api.send({
          method: "DELETE",
          path: `${path}/fireboltengineclasses?fieldSelector=metadata.name%3Dbound`,
        })
      ).status,
    ).toBe(403);
    for (const name of ["one", "two"])
      await harness.api.expect({ method: "DELETE", path: `${path}/fireboltengines/${name}` });
    expect((await remove()).status).toBe(200);
  });

  test("a sidecar may mount the data volume", async () => {
    const containers = [{ name: "side", image: "i", volumeMounts: [{ name: "data", mountPath: "/d" }] }];
    const spec = merged("FireboltEngine", { template: { spec: { containers } } });
    expect(await resources.create(make("FireboltEngine", spec, "reader"))).toMatchObject({ type: "accepted" });
  });

  test("the CRD rejects changes of immutable fields, with or without webhooks", async () => {
    const engine = await resources.create(
      make("FireboltEngine", merged("FireboltEngine", { metadataEndpointOverride: "a:1" }), "fixed"),
    );
    const instance = await resources.create(make("FireboltInstance", SMALLEST.FireboltInstance, "fixed"));
    if (engine.type !== "accepted" || instance.type !== "accepted") throw new Error("not created");
    const change = (kind: KindName, stored: { metadata: object }, spec: object) =>
      resources.replace({
        ...make(kind, spec, "fixed"),
        metadata: { ...stored.metadata, name: "fixed", namespace: harness.namespace },
      });
    const base = merged("FireboltEngine", { metadataEndpointOverride: "a:1" });
    for (const spec of [
      { ...base, instanceRef: "other" },
      { ...base, metadataEndpointOverride: "b:1" },
      SMALLEST.FireboltEngine,
    ])
      expect(await change("FireboltEngine", engine.object, spec)).toMatchObject({ type: "refused", status: 422 });
    for (const id of ["other", "", undefined])
      expect(
        await change("FireboltInstance", instance.object, merged("FireboltInstance", id === undefined ? {} : { id })),
      ).toMatchObject({
        type: "refused",
        status: 422,
      });
  });

  test("an unknown field", async () => {
    expect(await resources.create(make("FireboltEngine", merged("FireboltEngine", { image: "x" })))).toMatchObject({
      type: "refused",
      status: 400,
    });
  });
});

describe("what the operator made for any instance of the namespace", () => {
  test.each(OPERATOR_OWNED)("no template of engine or class uses $what", async ({ spec, path, names }) => {
    for (const kind of ["FireboltEngine", "FireboltEngineClass"] as const)
      expect(await resources.create(make(kind, merged(kind, { template: { spec } })))).toMatchObject({
        type: "refused",
        status: 403,
        message: expect.stringContaining(names),
        causes: [{ field: `spec.template.${path}` }],
      });
  });

  test.each(LOOKS_OWNED)("$what is the user's own", async ({ spec }) => {
    for (const kind of ["FireboltEngine", "FireboltEngineClass"] as const)
      expect(
        await resources.create(make(kind, merged(kind, { template: { spec } }), "free"), { dryRun: true }),
      ).toMatchObject({
        type: "accepted",
      });
  });
});

describe("accepted with the webhooks on", () => {
  const engine = (spec: object) => ({ kind: "FireboltEngine" as const, spec: { ...SMALLEST.FireboltEngine, ...spec } });
  test.each<{ what: string; kind: KindName; spec: unknown; name?: string }>([
    { what: "an engine without spec", kind: "FireboltEngine", spec: undefined },
    { what: "a class without spec", kind: "FireboltEngineClass", spec: undefined },
    { what: "a disabled auto-stop policy", ...engine({ autoStop: { activeReplicas: 2 } }) },
    { what: "a negative idle timeout", ...engine({ autoStop: { activeReplicas: 1, idleTimeout: "-5m" } }) },
    { what: "no gateway pods", kind: "FireboltInstance", spec: { metadata: {}, gateway: { replicas: 0 } } },
    { what: "negative gateway replicas", kind: "FireboltInstance", spec: { metadata: {}, gateway: { replicas: -1 } } },
    {
      what: "a port past the range",
      kind: "FireboltInstance",
      spec: {
        metadata: { postgres: { host: "pg", port: 99_999, database: "m", credentialsSecretRef: { name: "s" } } },
        gateway: {},
      },
    },
    { what: "a negative claim size", ...engine({ storage: { persistentVolumeClaim: { size: "-1Gi" } } }) },
    { what: "rollout null", ...engine({ rollout: null }) },
    { what: "an empty metadataEndpointOverride", ...engine({ metadataEndpointOverride: "" }) },
    { what: "a template without containers", ...engine({ template: { spec: { nodeSelector: { a: "b" } } } }) },
    {
      what: "env FIREBOLT_ANYTHING",
      ...engine({ template: { spec: { containers: [{ name: "engine", env: [{ name: "FIREBOLT_ANYTHING" }] }] } } }),
    },
    { what: "a volume named data", ...engine({ template: { spec: { volumes: [{ name: "data", emptyDir: {} }] } } }) },
    { what: "a nodeName", ...engine({ template: { spec: { nodeName: "n1" } } }) },
    { what: "host namespaces switched off", ...engine({ template: { spec: { hostNetwork: false, hostPID: false } } }) },
    {
      what: "exactly the bound, in other units",
      ...engine({
        template: {
          spec: {
            containers: [
              {
                name: "engine",
                resources: { limits: { cpu: "32000m", memory: "262144Mi" }, requests: { cpu: "3.2e1" } },
              },
            ],
          },
        },
      }),
    },
    {
      what: "a class over the bounds",
      kind: "FireboltEngineClass",
      spec: { template: { spec: { containers: [{ name: "engine", resources: { limits: { cpu: "4096" } } }] } } },
    },
    {
      what: "a template metadata without timestamp",
      ...engine({ template: { metadata: { creationTimestamp: null } } }),
    },
  ])("looks wrong but is not: $what; it is stored, changed and deleted", async ({ kind, spec }) => {
    const odd = make(kind, spec, "odd");
    const held = { ...odd, metadata: { ...odd.metadata, finalizers: ["example.com/hold"] } };
    expect(await resources.create(held)).toMatchObject({ type: "accepted" });
    const { group, version, plural } = KINDS[kind];
    const path = `/apis/${group}/${version}/namespaces/${harness.namespace}/${plural}/odd`;
    const contentType = "application/merge-patch+json";
    const patch = (body: object) => harness.api.expect({ method: "PATCH", path, body, contentType });
    await patch({ metadata: { labels: { team: "data" } } });
    // The same spec as a change: from none, where there is one, and back.
    if (kind !== "FireboltInstance") {
      await patch({ spec: spec === undefined ? SMALLEST[kind] : null });
      await patch({ spec: spec ?? null });
    }
    await harness.api.expect({ method: "DELETE", path });
    await patch({ metadata: { finalizers: null } });
    expect((await harness.api.send({ path })).status).toBe(404);
  });
});
