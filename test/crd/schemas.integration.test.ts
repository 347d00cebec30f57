// The CRDs on a real API server: which defaults they fill in, what they keep and drop, and how clients see them. What
// they accept and reject is tested in the other files of this folder.
import type { KubeObject, ResourceType } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import { valueAt } from "@firebolt-operator/kube/testing";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { FireboltEngine } from "../../src/api/firebolt-engine/engine.ts";
import { FireboltEngineClass } from "../../src/api/firebolt-engine/engine-class.ts";
import { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import type { V1Deployment, V1Lease, V1Pod, V1StatefulSet } from "../../src/api/generated/kubernetes.ts";
import {
  type CustomResourceApi,
  openCustomResourceApi,
  type StoredObject,
} from "../harness/control-plane/custom-resource-api.ts";
import { createNamespace, eventually } from "../harness/control-plane/requests.ts";
import { type KindName, manifest, SMALLEST } from "../harness/fixtures/manifests.ts";

const GROUP_PATH = "/apis/compute.firebolt.io/v1alpha1";

let resources: CustomResourceApi;
let namespace: string;
beforeAll(async () => {
  resources = openCustomResourceApi();
  namespace = await createNamespace("crds");
});
afterAll(() => resources[Symbol.dispose]());

async function store(kind: KindName, name: string, spec: unknown): Promise<StoredObject> {
  const verdict = await resources.create(manifest(kind, { name, namespace }, spec));
  if (verdict.type === "refused") throw new Error(verdict.message);
  return verdict.object;
}

describe("defaults", () => {
  test("of an instance", async () => {
    const { spec } = await store("FireboltInstance", "defaults", {
      metadata: { postgres: { host: "pg", database: "meta", credentialsSecretRef: {} } },
      gateway: {},
      auth: {
        local: { admin: { password: { key: "p" } }, signingKeys: { certManager: { issuerRef: { name: "ca" } } } },
        oidc: {
          providers: [{ name: "a", discoveryURL: "https://x", usernameMapping: "{{ iss }}", jitProvisioning: {} }],
        },
      },
      tls: { gateway: { secretRef: {} }, engine: {} },
    });
    expect(spec).toEqual({
      metadataNG: false,
      metadata: {
        engineRegistration: false,
        postgres: { host: "pg", port: 5432, database: "meta", schema: "public", credentialsSecretRef: { name: "" } },
      },
      gateway: { metricsPort: 9090 },
      auth: {
        enabled: false,
        local: {
          passwordLogin: "admin_only",
          admin: { name: "firebolt", password: { name: "", key: "p" } },
          signingAlgorithm: "ES384",
          signingKeys: {
            certManager: { issuerRef: { name: "ca", kind: "ClusterIssuer" }, algorithm: "ECDSA", size: 384 },
          },
        },
        oidc: {
          providers: [
            { name: "a", discoveryURL: "https://x", usernameMapping: "{{ iss }}", jitProvisioning: { enabled: false } },
          ],
        },
      },
      tls: { gateway: { enabled: false, secretRef: { name: "" } }, engine: { enabled: false } },
    });
  });

  test("of an engine: storage alone, so that the class's values show through", async () => {
    const { spec } = await store("FireboltEngine", "defaults", { instanceRef: "lakeside", replicas: 1 });
    expect(spec).toEqual({ instanceRef: "lakeside", replicas: 1, storage: {} });
  });

  test("of storage and auto-stop", async () => {
    const { spec } = await store("FireboltEngineClass", "defaults", {
      template: {},
      storage: { persistentVolumeClaim: {} },
      autoStop: { activeReplicas: 2 },
    });
    expect(spec).toEqual({
      template: {},
      storage: { persistentVolumeClaim: { size: "1Gi", accessModes: ["ReadWriteOnce"] } },
      autoStop: { enabled: false, activeReplicas: 2, idleReplicas: 0, idleTimeout: "30m", pollInterval: "1m" },
    });
  });
});

describe("pod templates", () => {
  test("are stored as written, with the listed defaults and nothing else", async () => {
    const template = {
      metadata: { labels: { "cost-center": "data" }, annotations: { note: "kept" }, anything: { nested: [1, "two"] } },
      spec: {
        containers: [
          {
            name: "side",
            image: "x",
            ports: [{ containerPort: 80 }],
            env: [
              { name: "A", valueFrom: { secretKeyRef: { key: "k" } } },
              { name: "B", valueFrom: { fileKeyRef: { key: "k", path: "p", volumeName: "v" } } },
            ],
            envFrom: [{ configMapRef: {} }],
            resources: { requests: { cpu: 1, memory: "1Gi" }, limits: { "example.com/gpu": "1" } },
            readinessProbe: { grpc: { port: 1 } },
            livenessProbe: { httpGet: { port: "named" } },
          },
        ],
        imagePullSecrets: [{}],
        securityContext: {},
        volumes: [
          { name: "a", azureDisk: { diskName: "d", diskURI: "u" } },
          { name: "b", iscsi: { iqn: "i", lun: 1, targetPortal: "t" } },
          { name: "c", rbd: { image: "i", monitors: ["m"] } },
          { name: "d", scaleIO: { gateway: "g", secretRef: {}, system: "s" } },
          { name: "e", ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: "b" } }, spec: {} } } },
          { name: "f", configMap: {} },
        ],
      },
    };
    const { spec } = await store("FireboltEngineClass", "template", { template });
    const [side] = template.spec.containers;
    expect(valueAt(spec, ["template"])).toEqual({
      metadata: template.metadata,
      spec: {
        containers: [
          {
            ...side,
            ports: [{ containerPort: 80, protocol: "TCP" }],
            env: [
              { name: "A", valueFrom: { secretKeyRef: { key: "k", name: "" } } },
              { name: "B", valueFrom: { fileKeyRef: { key: "k", path: "p", volumeName: "v", optional: false } } },
            ],
            envFrom: [{ configMapRef: { name: "" } }],
            readinessProbe: { grpc: { port: 1, service: "" } },
          },
        ],
        imagePullSecrets: [{ name: "" }],
        securityContext: {},
        volumes: [
          { name: "a", azureDisk: { diskName: "d", diskURI: "u", fsType: "ext4", readOnly: false } },
          { name: "b", iscsi: { iqn: "i", lun: 1, targetPortal: "t", iscsiInterface: "default" } },
          { name: "c", rbd: { image: "i", monitors: ["m"], keyring: "/etc/ceph/keyring", pool: "rbd", user: "admin" } },
          {
            name: "d",
            scaleIO: {
              gateway: "g",
              secretRef: { name: "" },
              system: "s",
              fsType: "xfs",
              storageMode: "ThinProvisioned",
            },
          },
          { name: "e", ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: "b" } }, spec: {} } } },
          { name: "f", configMap: { name: "" } },
        ],
      },
    });
  });

  test("lose unknown fields of the pod, and the spec its own, while free objects keep everything", async () => {
    const content = {
      ...SMALLEST.FireboltEngine,
      image: "x",
      customEngineConfig: { any: { thing: [1] } },
      template: { spec: { unheardOf: true, nodeName: "n" } },
    };
    const verdict = await resources.create(manifest("FireboltEngine", { name: "pruned", namespace }, content), {
      fieldValidation: "Ignore",
    });
    expect(verdict).toHaveProperty("object.spec", {
      ...SMALLEST.FireboltEngine,
      storage: {},
      customEngineConfig: { any: { thing: [1] } },
      template: { spec: { nodeName: "n" } },
    });
  });
});

describe("status", () => {
  const condition = {
    type: "Ready",
    status: "True",
    reason: "EngineReady",
    message: "",
    lastTransitionTime: "2026-01-02T03:04:05Z",
    observedGeneration: 1,
  };

  async function writeStatus(kind: KindName, name: string, status: object) {
    const stored = await store(kind, name, SMALLEST[kind]);
    const metadata = { name, namespace, resourceVersion: stored.metadata["resourceVersion"] };
    const changed = { ...manifest(kind, { name, namespace }, stored.spec), metadata, status };
    return { stored, changed, verdict: await resources.replace(changed, { status: true }) };
  }

  test("is written through the status subresource only", async () => {
    const status = { currentGeneration: 0, activeGeneration: -1, phase: "creating", conditions: [condition] };
    const { stored, changed, verdict } = await writeStatus("FireboltEngine", "doors", status);
    expect(verdict).toMatchObject({ type: "accepted", object: { status } });
    if (verdict.type !== "accepted") return;
    expect(verdict.object.metadata["generation"]).toBe(stored.metadata["generation"]);
    const metadata = { ...changed.metadata, resourceVersion: verdict.object.metadata["resourceVersion"] };
    const other = { ...changed, metadata, status: { currentGeneration: 9, activeGeneration: 9 } };
    expect(await resources.replace(other)).toMatchObject({ type: "accepted", object: { status } });
  });

  test.each<{ what: string; kind: KindName; status: object; field: string }>([
    {
      what: "no activeGeneration",
      kind: "FireboltEngine",
      status: { currentGeneration: 0 },
      field: "status.activeGeneration",
    },
    {
      what: "no currentGeneration",
      kind: "FireboltEngine",
      status: { activeGeneration: 0 },
      field: "status.currentGeneration",
    },
    { what: "an unknown phase", kind: "FireboltInstance", status: { phase: "Happy" }, field: "status.phase" },
    {
      what: "a condition without message",
      kind: "FireboltEngineClass",
      status: { conditions: [{ ...condition, message: undefined }] },
      field: "status.conditions[0].message",
    },
    {
      what: "a reason with blanks",
      kind: "FireboltEngineClass",
      status: { conditions: [{ ...condition, reason: "not a token" }] },
      field: "status.conditions[0].reason",
    },
  ])("of $kind with $what is rejected", async ({ kind, what, status, field }) => {
    const { verdict } = await writeStatus(kind, what.toLowerCase().replaceAll(" ", "-"), status);
    expect(verdict).toMatchObject({ type: "refused", status: 422 });
    expect(verdict).toHaveProperty("causes", expect.arrayContaining([{ field, message: expect.any(String) }]));
  });
});

describe("clients", () => {
  test("find kinds, short names and the status subresource through discovery", async () => {
    const { body } = await resources.api.expect({ path: GROUP_PATH });
    const found: unknown = valueAt(body, ["resources"]);
    const main = (kind: string, name: string, shortName: string) =>
      expect.objectContaining({ kind, name, namespaced: true, shortNames: [shortName] });
    expect(found).toEqual(
      expect.arrayContaining([
        main("FireboltInstance", "fireboltinstances", "fire"),
        main("FireboltEngine", "fireboltengines", "fireng"),
        main("FireboltEngineClass", "fireboltengineclasses", "firengc"),
        ...Object.values({ FireboltInstance, FireboltEngine, FireboltEngineClass }).map(({ plural }) =>
          expect.objectContaining({ name: `${plural}/status` }),
        ),
      ]),
    );
    expect(found).toHaveLength(6);
  });

  test("can explain every field: the served document has our descriptions and the whole pod", async () => {
    // Made from the definitions a moment after they are served.
    const { body } = await eventually(() => resources.api.expect({ path: `/openapi/v3${GROUP_PATH}` }));
    const root = [
      "components",
      "schemas",
      "io.firebolt.compute.v1alpha1.FireboltEngine",
      "properties",
      "spec",
      "properties",
    ];
    expect(valueAt(body, [...root, "drainCheckInterval", "description"])).toContain("draining generation");
    const pod = [...root, "template", "properties", "spec", "properties"];
    expect(valueAt(body, [...pod, "containers", "items", "properties", "image", "type"])).toBe("string");
  });

  test("get the type of the objects from the resource", () => {
    const resourceTypes: readonly ResourceType[] = [FireboltInstance, FireboltEngine, FireboltEngineClass];
    expect(resourceTypes.map((type) => type.kind)).toEqual([
      "FireboltInstance",
      "FireboltEngine",
      "FireboltEngineClass",
    ]);
    const read = (client: KubeClient) => client.get(FireboltEngine, { name: "a" });
    expectTypeOf(read).returns.resolves.toEqualTypeOf<FireboltEngine>();
    expectTypeOf<FireboltInstance | FireboltEngine | FireboltEngineClass>().toExtend<KubeObject>();
    expectTypeOf<V1Pod | V1StatefulSet | V1Deployment | V1Lease>().toExtend<KubeObject>();
  });
});
