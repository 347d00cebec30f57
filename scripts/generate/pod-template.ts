// Turns Kubernetes' PodTemplateSpec into the structural schema that the CRDs embed: references resolved, descriptions
// dropped, and of the published defaults only those that belong in a stored fragment. Throws on anything unforeseen, so
// that a new Kubernetes version cannot change the CRDs unnoticed.

import { QUANTITY_PATTERN } from "../../src/api/schema/builders.ts";
import type { JsonValue, StructuralSchema } from "../../src/api/schema/schema.ts";
import { type OpenApi, type OpenApiSchema, refOf, schemaNamed } from "./openapi.ts";

const CORE = "io.k8s.api.core.v1.";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/** Defaults of optional fields that are kept, by type and field. */
const KEPT_DEFAULTS: Readonly<Record<string, JsonValue>> = {
  "AzureDiskVolumeSource.fsType": "ext4",
  "AzureDiskVolumeSource.readOnly": false,
  "ConfigMapEnvSource.name": "",
  "ConfigMapKeySelector.name": "",
  "ConfigMapProjection.name": "",
  "ConfigMapVolumeSource.name": "",
  // Part of the list-map key of ports, which must be required or have a default.
  "ContainerPort.protocol": "TCP",
  "FileKeySelector.optional": false,
  "GRPCAction.service": "",
  "ISCSIVolumeSource.iscsiInterface": "default",
  "LocalObjectReference.name": "",
  "RBDVolumeSource.keyring": "/etc/ceph/keyring",
  "RBDVolumeSource.pool": "rbd",
  "RBDVolumeSource.user": "admin",
  "ScaleIOVolumeSource.fsType": "xfs",
  "ScaleIOVolumeSource.storageMode": "ThinProvisioned",
  "SecretEnvSource.name": "",
  "SecretKeySelector.name": "",
  "SecretProjection.name": "",
};

/** Defaults of optional fields that are left out: the pod gets them anyway, the fragment does not need them. */
const DROPPED_DEFAULTS: ReadonlySet<string> = new Set([
  "AzureDiskVolumeSource.cachingMode",
  "AzureDiskVolumeSource.kind",
]);

const KEPT_KEYWORDS = [
  "type",
  "format",
  "required",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
] as const;

const IGNORED_KEYWORDS: ReadonlySet<string> = new Set([
  "description",
  "default",
  "x-kubernetes-patch-merge-key",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-unions",
  // Handled by name below.
  "properties",
  "additionalProperties",
  "items",
]);

const INT_OR_STRING: StructuralSchema = {
  anyOf: [{ type: "integer" }, { type: "string" }],
  "x-kubernetes-int-or-string": true,
};

/** Types whose published schema is not structural. */
const SPECIAL: Readonly<Record<string, StructuralSchema>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { ...INT_OR_STRING, pattern: QUANTITY_PATTERN },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": INT_OR_STRING,
};

/** The schema of a pod template fragment, with the two edits that make it one. */
export function buildPodTemplateSchema(openApi: OpenApi): StructuralSchema {
  const usedDefaults = new Set<string>();
  const spec = expand(`${CORE}PodSpec`, { openApi, usedDefaults, path: [] });
  const unused = Object.keys(KEPT_DEFAULTS).filter((field) => !usedDefaults.has(field));
  if (unused.length > 0) throw new Error(`Kubernetes no longer has these fields with a default: ${unused.join(", ")}`);
  const { required = [], ...fragment } = spec;
  const others = required.filter((field) => field !== "containers");
  if (others.length > 0) throw new Error(`PodSpec now requires ${others.join(", ")}`);
  return {
    type: "object",
    properties: {
      // Edit 1: labels and annotations survive pruning; admission looks inside.
      metadata: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      // Edit 2: containers are not required.
      spec: fragment,
    },
  };
}

interface Expansion {
  readonly openApi: OpenApi;
  readonly usedDefaults: Set<string>;
  /** Names on the way here: a type that contains itself cannot be expanded. */
  readonly path: readonly string[];
}

function expand(name: string, expansion: Expansion): StructuralSchema {
  const special = SPECIAL[name];
  if (special !== undefined) return special;
  if (expansion.path.includes(name)) throw new Error(`${name} contains itself`);
  const inside = { ...expansion, path: [...expansion.path, name] };
  return convert(schemaNamed(expansion.openApi, name), inside);
}

function convert(schema: OpenApiSchema, expansion: Expansion): StructuralSchema {
  const ref = refOf(schema);
  if (ref !== undefined) return expand(ref, expansion);
  const owner = expansion.path.at(-1) ?? "";
  for (const keyword of Object.keys(schema)) {
    const known = IGNORED_KEYWORDS.has(keyword) || KEPT_KEYWORDS.some((kept) => kept === keyword);
    if (!known) throw new Error(`${owner} uses the keyword ${keyword}, which the generator does not know`);
  }
  const kept = Object.fromEntries(KEPT_KEYWORDS.filter((key) => key in schema).map((key) => [key, schema[key]]));
  const { properties, items, additionalProperties } = schema;
  return {
    ...kept,
    ...(items === undefined ? {} : { items: convert(items, expansion) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: convert(additionalProperties, expansion) }),
    ...(properties === undefined ? {} : { properties: convertProperties(schema, expansion) }),
  };
}

function convertProperties(schema: OpenApiSchema, expansion: Expansion): Record<string, StructuralSchema> {
  const required = schema.required ?? [];
  const fields = Object.entries(schema.properties ?? {}).map(([field, property]) => {
    const value = keptDefault(field, property, { expansion, isRequired: required.includes(field) });
    return [field, { ...convert(property, expansion), ...(value === undefined ? {} : { default: value }) }] as const;
  });
  return Object.fromEntries(fields);
}

/** Required fields and objects carry the zero value as their default in the document; those defaults mean nothing. */
function keptDefault(
  field: string,
  property: OpenApiSchema,
  { expansion, isRequired }: { readonly expansion: Expansion; readonly isRequired: boolean },
): JsonValue | undefined {
  const owner = expansion.path.at(-1) ?? "";
  const key = `${owner.replace(CORE, "").replace(META, "")}.${field}`;
  const kept = KEPT_DEFAULTS[key];
  if (kept !== undefined) {
    if (property.default !== kept) throw new Error(`${key} defaults to ${JSON.stringify(property.default)} now`);
    expansion.usedDefaults.add(key);
    return kept;
  }
  const meaningless = isRequired || property.default === undefined || typeof property.default === "object";
  if (!meaningless && !DROPPED_DEFAULTS.has(key)) {
    throw new Error(`${key} has a default that the generator does not know: ${JSON.stringify(property.default)}`);
  }
  return undefined;
}
