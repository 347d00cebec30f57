// What the API server stores of a rendering never looks like a change, whatever users put into their templates: otherwise the
// operator would write the same object for ever. Dry runs against the real server; nothing is stored.
import { isInvalid, type KubeObject, type ResourceType } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FireboltInstance } from "../../src/api/firebolt-instance/instance.ts";
import { OPERATOR_DEFAULTS } from "../../src/api/operator-defaults.ts";
import type { PodTemplateFragment } from "../../src/api/schema/pod-template.ts";
import { KINDS } from "../../src/instance/cluster/kinds.ts";
import { isAsRendered, withRenderedHash } from "../../src/instance/drift/as-rendered.ts";
import { trimConfigMap } from "../../src/instance/model/cache-trims.ts";
import type { LiveObject, Rendered } from "../../src/instance/model/children.ts";
import { type RenderSettings, renderInstanceObjects } from "../../src/instance/render/instance-objects.ts";
import { createNamespace } from "../harness/control-plane/requests.ts";
import { testClient } from "../harness/control-plane/test-client.ts";
import { EVERY_VOLUME } from "../harness/fixtures/maximal-template.ts";
import { randomTemplate } from "../harness/fixtures/random-template.ts";

let client: KubeClient;
let namespace: string;
beforeAll(async () => {
  client = await testClient();
  namespace = await createNamespace("instance-drift");
});
afterAll(() => client.close());

const settings = { images: OPERATOR_DEFAULTS.images, metadataConfigFormat: "xml" } as const;

function objectsOf(template?: PodTemplateFragment, more: Partial<RenderSettings> = {}): readonly Rendered[] {
  const instance: FireboltInstance = {
    metadata: { namespace, name: "lakeside", uid: "5f2b1c9e-0000-4000-8000-000000000000" },
    spec: {
      id: "01ABC",
      metadataNG: false,
      metadata: { engineRegistration: false, ...(template === undefined ? {} : { template }) },
      gateway: { metricsPort: 9090, ...(template === undefined ? {} : { template }) },
    },
  };
  const { postgres, metadata, gateway } = renderInstanceObjects(instance, { ...settings, ...more });
  return [...postgres, ...metadata, ...gateway].map(withRenderedHash);
}

/** As a cache would hold it after the write; undefined when the API server rejects the object. */
async function stored(object: Rendered): Promise<LiveObject | undefined> {
  const type: ResourceType<KubeObject> = KINDS[object.kind];
  try {
    const answer = await client.apply(type, object, { fieldManager: "firebolt-operator", force: true, dryRun: true });
    // The response has the requested kind.
    return object.kind === "ConfigMap" ? trimConfigMap(answer as never) : (answer as LiveObject);
  } catch (error) {
    if (isInvalid(error)) return undefined;
    throw error;
  }
}

describe("a stored rendering is as rendered", () => {
  test("the smallest instance", async () => {
    for (const object of objectsOf()) {
      const live = await stored(object);
      if (live === undefined) throw new Error(`${object.kind} ${object.metadata.name} was rejected`);
      expect([object.kind, isAsRendered(live, object)]).toEqual([object.kind, true]);
    }
  });

  test.each(["annotation", "demand"] as const)("with an agent in the wake mode %s", async (wakeMode) => {
    const spec = {
      nodeSelector: { pool: "edge" },
      tolerations: [{ key: "spot", operator: "Exists" }],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "zone",
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: { matchLabels: { a: "b" } },
        },
      ],
    };
    for (const object of objectsOf({ spec }, { wakeMode, wakeAgent: { image: "agent:1", pullPolicy: "" } })) {
      const live = await stored(object);
      if (live === undefined) throw new Error(`${object.kind} ${object.metadata.name} was rejected`);
      expect([object.kind, isAsRendered(live, object)]).toEqual([object.kind, true]);
    }
  });

  test("every volume source", async () => {
    const volumes = EVERY_VOLUME.filter(({ name }) => name !== "tmp" && name !== "sourceless");
    const sidecar = { name: "engine", image: "x", resources: { limits: { cpu: "1500m", memory: "1024Mi" } } };
    for (const object of objectsOf({ spec: { volumes: [...volumes], containers: [sidecar] } })) {
      if (object.kind !== "Deployment") continue;
      const live = await stored(object);
      if (live === undefined) throw new Error(`Deployment ${object.metadata.name} was rejected`);
      expect(isAsRendered(live, object)).toBe(true);
    }
  });

  test("random templates", async () => {
    const seen = { stored: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(randomTemplate("t"), async (template) => {
        for (const object of objectsOf(template).filter(({ kind }) => kind === "Deployment")) {
          const live = await stored(object);
          if (live === undefined) seen.refused += 1;
          else {
            seen.stored += 1;
            expect(isAsRendered(live, object)).toBe(true);
          }
        }
      }),
      { numRuns: 200 },
    );
    process.stderr.write(`${seen.stored} Deployments stored, ${seen.refused} rejected\n`);
    expect(seen.stored).toBeGreaterThan(seen.refused);
  });
});

describe("an edit by another client is detected", () => {
  interface Container {
    image?: string;
    args?: string[];
    env?: unknown[];
    securityContext?: object;
    volumeMounts: { readOnly?: boolean }[];
  }
  interface Spec {
    replicas?: number;
    template: {
      spec: { containers: Container[]; volumes: unknown[]; serviceAccountName?: string; securityContext?: object };
    };
  }
  const first = (spec: Spec): Container => {
    const [container] = spec.template.spec.containers;
    if (container === undefined) throw new Error("no container");
    return container;
  };
  const firstMount = (spec: Spec) => {
    const [mount] = first(spec).volumeMounts;
    if (mount === undefined) throw new Error("no mount");
    return mount;
  };
  const edits: readonly (readonly [string, string, (spec: Spec) => void])[] = [
    [
      "replicas",
      "Deployment",
      (spec) => {
        spec.replicas = 9;
      },
    ],
    [
      "the image",
      "Deployment",
      (spec) => {
        first(spec).image = "evil";
      },
    ],
    ["an argument more", "Deployment", (spec) => void first(spec).args?.push("--log-level")],
    [
      "a mount made writable",
      "Deployment",
      (spec) => {
        firstMount(spec).readOnly = false;
      },
    ],
    ["a removed variable", "StatefulSet", (spec) => void first(spec).env?.pop()],
    [
      "a softer security context",
      "StatefulSet",
      (spec) => {
        first(spec).securityContext = {};
      },
    ],
    ["a removed volume", "Deployment", (spec) => void spec.template.spec.volumes.pop()],
    [
      "another account",
      "Deployment",
      (spec) => {
        spec.template.spec.serviceAccountName = "other";
      },
    ],
    [
      "a removed seccomp profile",
      "Deployment",
      (spec) => {
        spec.template.spec.securityContext = {};
      },
    ],
  ];

  test.each(edits)("%s of a %s", async (_, kind, edit) => {
    const object = objectsOf().findLast((candidate) => candidate.kind === kind);
    const live = object === undefined ? undefined : await stored(object);
    if (object === undefined || live === undefined || !("spec" in live)) throw new Error(`no ${kind}`);
    const edited = structuredClone(live) as { spec: Spec };
    edit(edited.spec);
    expect(isAsRendered(edited as LiveObject, object)).toBe(false);
  });
});
