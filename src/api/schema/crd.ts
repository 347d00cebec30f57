// Renders the CustomResourceDefinition of a kind as YAML, for the generator and the subcommand that prints CRDs. The
// manager does not load it.
import { stringify } from "yaml";
import type { KindDefinition } from "./kind-definition.ts";
import type { StructuralSchema } from "./schema.ts";

/** `compute.firebolt.io_fireboltengines.yaml` */
export const crdFileName = ({ names }: KindDefinition): string => `${names.group}_${names.plural}.yaml`;

export function buildCrd(definition: KindDefinition, podTemplate: StructuralSchema) {
  const { names } = definition;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${names.plural}.${names.group}` },
    spec: {
      group: names.group,
      names: {
        kind: names.kind,
        listKind: `${names.kind}List`,
        plural: names.plural,
        singular: names.singular,
        shortNames: [names.shortName],
      },
      scope: "Namespaced",
      versions: [
        {
          name: names.version,
          served: true,
          storage: true,
          additionalPrinterColumns: definition.columns,
          schema: { openAPIV3Schema: rootSchema(definition, podTemplate) },
          subresources: { status: {} },
        },
      ],
    },
  };
}

function rootSchema({ description, spec, status }: KindDefinition, podTemplate: StructuralSchema): StructuralSchema {
  return {
    description,
    type: "object",
    properties: {
      apiVersion: { description: "Version of the schema of this object.", type: "string" },
      kind: { description: "Kind of this object.", type: "string" },
      metadata: { type: "object" },
      spec: resolve(spec.schema, podTemplate),
      status: resolve(status.schema, podTemplate),
    },
    ...(spec.listed ? { required: ["spec"] } : {}),
  };
}

/** Replaces references with the schema of the pod template. */
function resolve(schema: StructuralSchema, podTemplate: StructuralSchema): StructuralSchema {
  const { $ref, ...rest } = schema;
  if ($ref !== undefined) return { ...rest, ...podTemplate };
  const { properties, items } = rest;
  return {
    ...rest,
    ...(items === undefined ? {} : { items: resolve(items, podTemplate) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, resolve(property, podTemplate)]),
          ),
        }),
  };
}

/** Deterministic YAML: no anchors, no folded lines, keys in insertion order. */
export const toYaml = (manifest: object): string =>
  stringify(manifest, { aliasDuplicateObjects: false, lineWidth: 0, minContentWidth: 0 });
