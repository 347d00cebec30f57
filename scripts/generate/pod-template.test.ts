// The reduced pod template schema as committed: which lists have keys, what is required, which defaults there are, and that
// nothing else of Kubernetes' documents came along.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { StructuralSchema } from "../../src/api/schema/schema.ts";
import type { OpenApi, OpenApiSchema } from "./openapi.ts";
import { POD_TEMPLATE_FILE, parsePodTemplateFile } from "./outputs.ts";
import { buildPodTemplateSchema } from "./pod-template.ts";

const { schema, kubernetesVersion } = parsePodTemplateFile(
  readFileSync(join(import.meta.dirname, "../..", POD_TEMPLATE_FILE), "utf8"),
);

interface Visit {
  readonly path: string;
  readonly schema: StructuralSchema;
}

function visit(at: Visit): readonly Visit[] {
  const { path, schema: node } = at;
  const properties = Object.entries(node.properties ?? {}).flatMap(([name, property]) =>
    visit({ path: path === "" ? name : `${path}.${name}`, schema: property }),
  );
  const items = node.items === undefined ? [] : visit({ path: `${path}[]`, schema: node.items });
  const values =
    node.additionalProperties === undefined ? [] : visit({ path: `${path}{}`, schema: node.additionalProperties });
  return [at, ...properties, ...items, ...values];
}

const all = visit({ path: "", schema });
const at = (path: string): StructuralSchema | undefined => all.find((one) => one.path === path)?.schema;
const lastName = (path: string): string => path.slice(path.lastIndexOf(".") + 1);

test("it is of the pinned version", () => {
  expect(kubernetesVersion).toBe("v1.36.3");
});

test("metadata is stored untouched and containers are not required", () => {
  expect(schema.properties?.["metadata"]).toEqual({ type: "object", "x-kubernetes-preserve-unknown-fields": true });
  expect(at("spec")?.required).toBeUndefined();
  expect(Object.keys(at("spec")?.properties ?? {})).toHaveLength(42);
});

test("lists with keys are those of Kubernetes", () => {
  const keyed = all.filter((one) => one.schema["x-kubernetes-list-type"] === "map");
  const keys = Object.fromEntries(
    keyed
      .filter((one) => !one.path.startsWith("spec.volumes[]"))
      .map((one) => [lastName(one.path), one.schema["x-kubernetes-list-map-keys"]]),
  );
  expect(keys).toEqual({
    containers: ["name"],
    initContainers: ["name"],
    ephemeralContainers: ["name"],
    volumes: ["name"],
    imagePullSecrets: ["name"],
    resourceClaims: ["name"],
    schedulingGates: ["name"],
    claims: ["name"],
    env: ["name"],
    volumeMounts: ["mountPath"],
    volumeDevices: ["devicePath"],
    ports: ["containerPort", "protocol"],
    hostAliases: ["ip"],
    topologySpreadConstraints: ["topologyKey", "whenUnsatisfiable"],
  });
  for (const list of ["tolerations", "readinessGates", "containers[].resizePolicy"])
    expect(at(`spec.${list}`)?.["x-kubernetes-list-type"]).toBe("atomic");
});

test("required fields are those of Kubernetes", () => {
  expect(at("spec.containers[]")?.required).toEqual(["name"]);
  expect(at("spec.containers[].env[]")?.required).toEqual(["name"]);
  expect(at("spec.containers[].ports[]")?.required).toEqual(["containerPort"]);
  expect(at("spec.containers[].volumeMounts[]")?.required?.toSorted()).toEqual(["mountPath", "name"]);
  expect(at("spec.volumes[]")?.required).toEqual(["name"]);
  expect(at("spec.volumes[].hostPath")?.required).toEqual(["path"]);
  expect(at("spec.topologySpreadConstraints[]")?.required).toEqual(["maxSkew", "topologyKey", "whenUnsatisfiable"]);
});

test("defaults are the listed ones and nothing else", () => {
  const defaults = all.filter((one) => one.schema.default !== undefined);
  const inContainers = /^spec\.(containers|initContainers|ephemeralContainers)\[\]\./;
  const found = defaults.map(
    ({ path, schema: { default: value } }) => `${path.replace(inContainers, "")} = ${JSON.stringify(value)}`,
  );
  expect([...new Set(found)].toSorted()).toEqual([
    'envFrom[].configMapRef.name = ""',
    'envFrom[].secretRef.name = ""',
    'env[].valueFrom.configMapKeyRef.name = ""',
    "env[].valueFrom.fileKeyRef.optional = false",
    'env[].valueFrom.secretKeyRef.name = ""',
    'livenessProbe.grpc.service = ""',
    'ports[].protocol = "TCP"',
    'readinessProbe.grpc.service = ""',
    'spec.imagePullSecrets[].name = ""',
    'spec.volumes[].azureDisk.fsType = "ext4"',
    "spec.volumes[].azureDisk.readOnly = false",
    'spec.volumes[].cephfs.secretRef.name = ""',
    'spec.volumes[].cinder.secretRef.name = ""',
    'spec.volumes[].configMap.name = ""',
    'spec.volumes[].csi.nodePublishSecretRef.name = ""',
    'spec.volumes[].flexVolume.secretRef.name = ""',
    'spec.volumes[].iscsi.iscsiInterface = "default"',
    'spec.volumes[].iscsi.secretRef.name = ""',
    'spec.volumes[].projected.sources[].configMap.name = ""',
    'spec.volumes[].projected.sources[].secret.name = ""',
    'spec.volumes[].rbd.keyring = "/etc/ceph/keyring"',
    'spec.volumes[].rbd.pool = "rbd"',
    'spec.volumes[].rbd.secretRef.name = ""',
    'spec.volumes[].rbd.user = "admin"',
    'spec.volumes[].scaleIO.fsType = "xfs"',
    'spec.volumes[].scaleIO.secretRef.name = ""',
    'spec.volumes[].scaleIO.storageMode = "ThinProvisioned"',
    'spec.volumes[].storageos.secretRef.name = ""',
    'startupProbe.grpc.service = ""',
  ]);
});

test("there are no descriptions, enums, rules or references in it, and quantities have their pattern", () => {
  for (const { path, schema: node } of all) {
    const foreign = Object.keys(node).filter((key) =>
      ["description", "enum", "oneOf", "allOf", "$ref", "x-kubernetes-validations"].includes(key),
    );
    expect([path, foreign]).toEqual([path, []]);
  }
  expect(at("spec.containers[].resources.limits{}")?.pattern).toContain("[KMGTPE]i");
  expect(at("spec.containers[].readinessProbe.tcpSocket.port")).toEqual({
    anyOf: [{ type: "integer" }, { type: "string" }],
    "x-kubernetes-int-or-string": true,
  });
});

describe("a Kubernetes version that the generator does not know", () => {
  const podSpec = (properties: Record<string, OpenApiSchema>, required = ["containers"]): OpenApi => ({
    kubernetesVersion: "v9.9.9",
    schemas: new Map([["io.k8s.api.core.v1.PodSpec", { type: "object", properties, required }]]),
  });

  test.each([
    ["a new keyword", podSpec({ a: { type: "string", nullable: true } }), "keyword nullable"],
    ["a new default", podSpec({ a: { type: "string", default: "x" } }), "PodSpec.a has a default"],
    [
      "a missing type",
      podSpec({ a: { $ref: "#/components/schemas/io.k8s.api.core.v1.Gone" } }),
      "no schema io.k8s.api.core.v1.Gone",
    ],
    [
      "a type inside itself",
      podSpec({ a: { $ref: "#/components/schemas/io.k8s.api.core.v1.PodSpec" } }),
      "contains itself",
    ],
    ["missing defaults", podSpec({}), "no longer has these fields"],
  ])("%s is an error", (_name, openApi, message) => {
    expect(() => buildPodTemplateSchema(openApi)).toThrow(message);
  });
});
