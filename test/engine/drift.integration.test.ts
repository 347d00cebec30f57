// Comparing with what the real API server stores: nothing that it fills in, drops or rewrites may look like a change, or engines
// would roll for ever; and every change that counts is found, at its place.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { V1StatefulSet } from "../../src/api/generated/kubernetes.ts";
import type { PodTemplateFragment } from "../../src/api/schema/pod-template.ts";
import { findDrift, findFieldDrift } from "../../src/engine/drift/find-drift.ts";
import { createNamespace } from "../harness/control-plane/requests.ts";
import { EVERY_VOLUME, MAXIMAL_CLASS_TEMPLATE, MAXIMAL_ENGINE_TEMPLATE } from "../harness/fixtures/maximal-template.ts";
import { randomTemplate } from "../harness/fixtures/random-template.ts";
import { leavesOf, withChangedLeaf } from "./support/changed-leaves.ts";
import { type DriftHarness, openDriftHarness } from "./support/drift-harness.ts";
import { type Layers, render } from "./support/rendered-fixtures.ts";

let harness: DriftHarness;
let namespace: string;
beforeAll(async () => {
  namespace = await createNamespace("drift");
  harness = openDriftHarness(namespace);
});
afterAll(() => harness[Symbol.dispose]());

/** Of an engine that is not stored: its StatefulSet is only ever tried out. */
const rendered = (layers: Layers) => render(layers, { namespace, name: "unstored" });

/** Both the comparison itself and the whole check, which may take a short cut. */
function expectNoDrift(live: V1StatefulSet, wanted: V1StatefulSet): void {
  expect(findFieldDrift(live, wanted)).toBeUndefined();
  expect(findDrift(live, wanted)).toBeUndefined();
}

describe("the maximal pod template", () => {
  test("goes through both CRDs, is stored as a StatefulSet and read back without a difference", async () => {
    const { statefulSet } = await harness.renderThroughCrds({
      engine: { template: MAXIMAL_ENGINE_TEMPLATE, customEngineConfig: { logging: { level: "debug" } } },
      engineClass: { template: MAXIMAL_CLASS_TEMPLATE },
    });
    await harness.create(statefulSet);
    const live = await harness.read("e-g0");
    expect(live.spec?.template.spec?.volumes).toHaveLength(EVERY_VOLUME.length + 4);
    expectNoDrift(live, statefulSet);

    // A manual scale: from then on the fields themselves are compared.
    const scaled = await harness.edit("e-g0", { spec: { replicas: 5 } });
    expect(findDrift(scaled, statefulSet)).toEqual({ path: "spec.replicas", live: "5", wanted: "1" });
    const restored = await harness.edit("e-g0", { spec: { replicas: 1 } });
    expect(restored.metadata?.generation).toBe(3);
    expectNoDrift(restored, statefulSet);
    const restarted = await harness.edit("e-g0", {
      spec: { template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "now" } } } },
    });
    expect(findDrift(restarted, statefulSet)?.path).toBe(
      "spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]",
    );
  });

  test("every single change of a compared field is found at its own path, and no other change is", async () => {
    const { statefulSet } = rendered({
      engine: { template: MAXIMAL_ENGINE_TEMPLATE },
      engineClass: { template: MAXIMAL_CLASS_TEMPLATE },
    });
    const live = await harness.dryRun(statefulSet);
    let found = 0;
    for (const leaf of leavesOf(live.spec, "spec")) {
      const changed: V1StatefulSet = withChangedLeaf(live, leaf);
      const difference = findFieldDrift(changed, statefulSet);
      if (NOT_COMPARED.some((pattern) => pattern.test(leaf.path))) {
        expect(difference, leaf.path).toBeUndefined();
      } else {
        expect(difference?.path.replace(/\.other$/, ""), `change of ${leaf.path}`).toBe(namedPath(live, leaf.path));
        found++;
      }
    }
    expect(found).toBeGreaterThan(400);
  });
});

/** What is deliberately not compared (docs/design/objects.md#comparing), and what no template can set. */
const NOT_COMPARED = [
  /^spec\.(serviceName|podManagementPolicy|revisionHistoryLimit|selector|updateStrategy|persistentVolumeClaimRetentionPolicy)/,
  /^spec\.template\.spec\.containers\[0\]\.(command|args|ports|livenessProbe|readinessProbe|startupProbe)/,
  /^spec\.template\.spec\.(enableServiceLinks|restartPolicy|serviceAccount$)/,
  /^spec\.template\.spec\.volumes\[[01]\]\.(?!name$)/,
];

/** Volumes are compared by name: their places mean nothing. */
function namedPath(live: V1StatefulSet, path: string): string {
  const match = /^(spec\.template\.spec\.volumes)\[(\d+)\](.*)$/.exec(path);
  if (match === null) return path;
  const [, list, index, rest] = match;
  const name = live.spec?.template.spec?.volumes?.[Number(index)]?.name;
  if (rest !== ".name") return `${list}[${name}]${rest}`;
  // A volume with another name is another volume: the old one is missing, or, if it was the operator's, one too many is there.
  return Number(index) < 2 ? `${list}[${name}x]` : `${list}[${name}]`;
}

describe("each trap on its own", () => {
  const pod = (spec: PodTemplateFragment["spec"]) => ({ template: { ...(spec && { spec }) } });
  const container = (fields: object) => pod({ containers: [{ name: "engine", ...fields }] });
  const sidecar = (fields: object) => pod({ containers: [{ name: "sidecar", image: "i:v1", ...fields }] });

  test.each<[string, Layers["engine"] & object]>([
    ["nothing at all", {}],
    [
      "a variable from a field, without apiVersion",
      container({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }),
    ],
    [
      "a variable from a resource, without divisor",
      container({ env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } }] }),
    ],
    ["an empty variable", container({ env: [{ name: "A", value: "" }] })],
    ["a hook over HTTP, without path and scheme", container({ lifecycle: { preStop: { httpGet: { port: 80 } } } })],
    ["an empty lifecycle", container({ lifecycle: {} })],
    [
      "quantities in other words",
      container({
        resources: { requests: { memory: "1024Mi", cpu: "0.5" }, limits: { memory: "1073741824", cpu: "1e3" } },
      }),
    ],
    ["limits without requests", container({ resources: { limits: { cpu: "1", memory: "1Gi" } } })],
    ["quantities finer than a thousandth", container({ resources: { requests: { cpu: "1n", memory: "0.1" } } })],
    ["a quantity beyond 64 bits", container({ resources: { requests: { memory: "100Ei", cpu: "100E" } } })],
    ["an empty container context", container({ securityContext: {} })],
    ["a context of false and zero", container({ securityContext: { runAsUser: 0, runAsNonRoot: false } })],
    ["an empty pod context", pod({ securityContext: {} })],
    ["an explicit default DNS policy", pod({ dnsPolicy: "ClusterFirst", schedulerName: "default-scheduler" })],
    ["empty lists and maps", pod({ tolerations: [], nodeSelector: {}, affinity: {}, hostAliases: [], dnsConfig: {} })],
    [
      "a token without lifetime",
      pod({ volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }] }),
    ],
    ["a sidecar without pull policy", sidecar({ image: "registry:5000/i" })],
    ["a sidecar whose image cannot be read", sidecar({ image: "Upper:latest" })],
    ["a port without protocol", sidecar({ ports: [{ containerPort: 1 }] })],
    ["a bare HTTP probe", sidecar({ readinessProbe: { httpGet: { port: 1 } } })],
    ["a bare gRPC probe", sidecar({ livenessProbe: { grpc: { port: 1 } } })],
    ["a bare TCP probe", sidecar({ startupProbe: { tcpSocket: { port: 1 } } })],
    [
      "sub-resources of an ephemeral claim",
      pod({
        volumes: [
          {
            name: "v",
            ephemeral: {
              volumeClaimTemplate: {
                spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1000m" } } },
              },
            },
          },
        ],
      }),
    ],
    [
      "an ephemeral claim with a source",
      pod({
        volumes: [
          {
            name: "v",
            ephemeral: {
              volumeClaimTemplate: {
                spec: {
                  accessModes: ["ReadWriteOnce"],
                  resources: { requests: { storage: "1" } },
                  dataSource: { kind: "PersistentVolumeClaim", name: "p" },
                },
              },
            },
          },
        ],
      }),
    ],
    [
      "a selector for everything",
      pod({
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "z", namespaceSelector: {}, labelSelector: {} },
            ],
          },
        },
      }),
    ],
    ["host path storage without type", { storage: { hostPath: { path: "/d" } } }],
    ["scratch storage with a limit", { storage: { emptyDir: { medium: "Memory", sizeLimit: "0.5Gi" } } }],
    ["a claim with defaults", { storage: { persistentVolumeClaim: { size: "1Gi", accessModes: ["ReadWriteOnce"] } } }],
    [
      "a claim in other words",
      { storage: { persistentVolumeClaim: { size: "1024Mi", accessModes: [], storageClassName: "" } } },
    ],
    [
      "a claim finer than a thousandth",
      { storage: { persistentVolumeClaim: { size: "0.0001", accessModes: ["ReadWriteMany"] } } },
    ],
    ["no replicas", { replicas: 0 }],
  ])("%s", async (_, fields) => {
    const { statefulSet } = rendered({ engine: fields });
    expectNoDrift(await harness.dryRun(statefulSet), statefulSet);
  });

  test.each(EVERY_VOLUME.map((volume) => [volume.name, volume] as const))("the volume source %s", async (_, volume) => {
    const { statefulSet } = rendered({ engine: { template: { spec: { volumes: [volume] } } } });
    expectNoDrift(await harness.dryRun(statefulSet), statefulSet);
  });
});

test("what the server does not keep never starts a new generation", async () => {
  // This server has the feature switched off and drops the source; a server that knows it would keep it.
  const sources = [{ clusterTrustBundle: { name: "b", path: "p" } }, { serviceAccountToken: { path: "t" } }];
  const { statefulSet } = rendered({
    engine: { template: { spec: { volumes: [{ name: "v", projected: { sources } }] } } },
  });
  const live = await harness.dryRun(statefulSet);
  expect(findFieldDrift(live, statefulSet)?.path).toMatch(
    /^spec\.template\.spec\.volumes\[v\]\.projected\.sources\[0\]/,
  );
  expect(findDrift(live, statefulSet)).toBeUndefined();
  expect(findDrift({ ...live, metadata: { ...live.metadata, generation: 2 } }, statefulSet)).toBeDefined();
});

test("random templates of a class and an engine come back without a difference", async () => {
  const BATCH = 12;
  const pair = fc.record({ ofEngine: randomTemplate("e"), ofClass: randomTemplate("c") });
  let checked = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { minLength: 1, maxLength: BATCH, size: "max" }), async (pairs) => {
      await Promise.all(
        pairs.map(async ({ ofEngine, ofClass }) => {
          const { statefulSet } = rendered({ engine: { template: ofEngine }, engineClass: { template: ofClass } });
          expectNoDrift(await harness.dryRun(statefulSet), statefulSet);
          checked++;
        }),
      );
    }),
    { numRuns: 50 },
  );
  expect(checked).toBeGreaterThan(200);
}, 300_000);
