import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { ANNOTATION, LABEL } from "../../api/labels.ts";
import { OPERATOR_DEFAULTS } from "../../api/operator-defaults.ts";
import type { Instance } from "../model/children.ts";
import { type InstanceObjects, renderInstanceObjects } from "./instance-objects.ts";

const settings = { images: OPERATOR_DEFAULTS.images, metadataConfigFormat: "xml" } as const;
const instance = (spec: object = {}): Instance =>
  ({
    metadata: { namespace: "analytics", name: "lakeside", uid: "uid-1" },
    spec: {
      id: "01ABC",
      metadataNG: false,
      metadata: { engineRegistration: false },
      gateway: { metricsPort: 9090 },
      ...spec,
    },
  }) as Instance;
const render = (spec?: object) => renderInstanceObjects(instance(spec), settings);
const all = ({ postgres, metadata, gateway }: InstanceObjects) => [...postgres, ...metadata, ...gateway];
/** The configurations have golden files of their own, so their hashes stay out of this one. */
const text = (objects: InstanceObjects) =>
  all(objects)
    .map((object) => (object.kind === "ConfigMap" ? { ...object, data: Object.keys(object.data ?? {}) } : object))
    .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join("---\n")
    .replace(/(config-hash: )[0-9a-f]{16}/g, "$1<hash>");
const podOf = (objects: InstanceObjects, name: string) => {
  const found = all(objects).find(({ kind, metadata }) => kind === "Deployment" && metadata.name === name);
  if (found?.kind !== "Deployment" || found.spec?.template.spec === undefined) throw new Error(`no Deployment ${name}`);
  return { metadata: found.spec.template.metadata ?? {}, spec: found.spec.template.spec };
};

const TEMPLATE = {
  metadata: {
    labels: { team: "a", [LABEL.component]: "evil" },
    annotations: { "eks.amazonaws.com/role-arn": "arn:x" },
  },
  spec: {
    nodeSelector: { pool: "db" },
    tolerations: [{ key: "db", operator: "Exists" }],
    priorityClassName: "high",
    imagePullSecrets: [{ name: "pull" }],
    dnsPolicy: "None",
    nodeName: "n1",
    securityContext: { fsGroup: 7, seccompProfile: { type: "Localhost", localhostProfile: "p.json" }, runAsUser: 0 },
    initContainers: [{ name: "prepare", image: "busybox" }],
    volumes: [
      { name: "tmp", emptyDir: { medium: "Memory" } },
      { name: "extra", emptyDir: {} },
    ],
  },
} as const;

describe("golden renders", () => {
  test("the smallest instance", () => expect(text(render())).toMatchFileSnapshot("instance-minimal.golden.yaml"));

  test("templates, an external database, an account of the user's", async () => {
    const primary = (name: string) => ({
      ...TEMPLATE,
      spec: {
        ...TEMPLATE.spec,
        serviceAccountName: `${name}-user`,
        containers: [
          { name: "sidecar", image: "side:1" },
          { name, image: "mirror.example.com:5000/own", resources: { limits: { memory: "1Gi" } } },
        ],
      },
    });
    const postgres = {
      host: "db",
      port: 6432,
      database: "meta",
      schema: "s",
      credentialsSecretRef: { name: "db-login" },
    };
    const objects = render({
      metadata: { engineRegistration: true, template: primary("metadata"), postgres },
      gateway: { replicas: 5, metricsPort: 9100, template: primary("envoy") },
    });
    await expect(text(objects)).toMatchFileSnapshot("instance-maximal.golden.yaml");
  });
});

describe("component pod templates", () => {
  const objects = render({
    metadata: { engineRegistration: false, template: TEMPLATE },
    gateway: { metricsPort: 9090, template: TEMPLATE },
  });

  test.each([
    ["lakeside-metadata", "metadata"],
    ["lakeside-gateway", "gateway"],
  ])("%s: the operator's labels win, the rest passes", (name, component) => {
    const { metadata, spec } = podOf(objects, name);
    expect(metadata.labels).toEqual({ team: "a", [LABEL.instance]: "lakeside", [LABEL.component]: component });
    expect(metadata.annotations).toMatchObject({ "eks.amazonaws.com/role-arn": "arn:x" });
    expect(metadata.annotations?.[ANNOTATION.configHash]).toMatch(/^[0-9a-f]{16}$/);
    expect(spec).toMatchObject({
      nodeSelector: { pool: "db" },
      priorityClassName: "high",
      enableServiceLinks: false,
      imagePullSecrets: [{ name: "pull" }],
      initContainers: [{ name: "prepare" }],
    });
    expect(spec).not.toHaveProperty("dnsPolicy");
    expect(spec).not.toHaveProperty("nodeName");
    // A reserved volume of the user's is dropped, others come last.
    expect(spec.volumes?.filter(({ name: volume }) => volume === "tmp")).toEqual([{ name: "tmp", emptyDir: {} }]);
    expect(spec.volumes?.at(-1)?.name).toBe("extra");
  });

  test("metadata keeps its user whatever the template contains, and a given seccomp profile", () => {
    expect(podOf(objects, "lakeside-metadata").spec.securityContext).toEqual({
      fsGroup: 7,
      runAsNonRoot: true,
      runAsUser: 1111,
      runAsGroup: 1111,
      seccompProfile: { type: "Localhost", localhostProfile: "p.json" },
    });
  });

  test("account-gets-annotations: the gateway's annotations reach its account too", () => {
    const account = objects.gateway.find(({ kind }) => kind === "ServiceAccount");
    expect(account?.metadata.annotations).toEqual({ "eks.amazonaws.com/role-arn": "arn:x" });
  });

  test.each([
    ["metadata", "dev", "Always"],
    ["metadata", "1.2", "IfNotPresent"],
    ["gateway", "dev", "IfNotPresent"],
    ["gateway", "latest", "Always"],
  ] as const)("%s with the tag %s is pulled %s", (component, tag, policy) => {
    const name = component === "gateway" ? "envoy" : "metadata";
    const template = { spec: { containers: [{ name, image: `x/y:${tag}` }] } };
    const pods = render({ [component]: { metricsPort: 9090, engineRegistration: false, template } });
    expect(podOf(pods, `lakeside-${component}`).spec.containers[0]?.imagePullPolicy).toBe(policy);
  });
});

describe("probes", () => {
  const containerOf = (name: string) => {
    for (const object of all(render())) {
      if (object.kind !== "Deployment" && object.kind !== "StatefulSet") continue;
      const found = object.spec?.template.spec?.containers.find((container) => container.name === name);
      if (found !== undefined) return found;
    }
    throw new Error(`no container ${name}`);
  };

  test.each([
    ["postgresql", "startupProbe", 3_600],
    ["metadata", "readinessProbe", 15],
    ["envoy", "readinessProbe", 4],
  ] as const)("components-ready-within-a-second: the %s container's %s runs every second", (name, probe, failures) => {
    expect(containerOf(name)[probe]).toMatchObject({ periodSeconds: 1, failureThreshold: failures });
    expect(containerOf(name)[probe]?.initialDelaySeconds).toBeUndefined();
  });

  test("components-ready-within-a-second: PostgreSQL is ready as soon as it has started up", () => {
    expect(containerOf("postgresql").readinessProbe?.initialDelaySeconds).toBeUndefined();
  });
});

describe("what rolls what", () => {
  const hashOf = (objects: InstanceObjects, name: string) =>
    podOf(objects, name).metadata.annotations?.[ANNOTATION.configHash];

  test("engines-never-touch-gateway: the gateway depends on the instance's gateway and namespace alone", () => {
    const before = render();
    const after = render({
      id: "other",
      metricScrapeMode: "PodIP",
      metadata: {
        engineRegistration: true,
        postgres: { host: "h", port: 1, database: "d", schema: "s", credentialsSecretRef: { name: "x" } },
      },
    });
    expect(after.gateway).toEqual(before.gateway);
  });

  test("the metadata hash follows its configuration, the gateway's follows its port", () => {
    const before = render();
    expect(hashOf(render({ id: "other" }), "lakeside-metadata")).not.toBe(hashOf(before, "lakeside-metadata"));
    expect(hashOf(render({ gateway: { metricsPort: 9100 } }), "lakeside-gateway")).not.toBe(
      hashOf(before, "lakeside-gateway"),
    );
    expect(hashOf(render({ gateway: { metricsPort: 9100 } }), "lakeside-metadata")).toBe(
      hashOf(before, "lakeside-metadata"),
    );
  });
});
