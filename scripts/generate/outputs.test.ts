// Generated files are reproducible and current, the CRDs fit client-side apply, and the chart holds the same manifests.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { buildCrd, crdFileName } from "../../src/api/schema/crd.ts";
import type { StructuralSchema } from "../../src/api/schema/schema.ts";
import { CRD_METADATA } from "./chart.ts";
import { DEFINITIONS, POD_TEMPLATE_FILE, parsePodTemplateFile, renderFromDefinitions } from "./outputs.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const podTemplate = parsePodTemplateFile(read(POD_TEMPLATE_FILE));
const { version } = parse(read("package.json"));
const outputs = renderFromDefinitions(podTemplate, version);

test("generating twice gives the same texts", () => {
  expect([...renderFromDefinitions(podTemplate, version)]).toEqual([...outputs]);
});

test.each([...outputs.keys()])("%s is current", (path) => {
  expect(read(path) === outputs.get(path), `${path} is stale; run npm run generate`).toBe(true);
});

describe.each(DEFINITIONS)("$names.kind", (definition) => {
  const crd = buildCrd(definition, podTemplate.schema);

  test("the YAML is the manifest", () => {
    expect(parse(read(`config/crd/${crdFileName(definition)}`))).toEqual(crd);
  });

  test("it fits the annotation that client-side kubectl apply writes", () => {
    expect(Buffer.byteLength(JSON.stringify(crd))).toBeLessThan(200_000);
  });

  test("the chart's template is the same manifest, kept by the value", () => {
    const template = read(`charts/firebolt-operator-crds/templates/${crdFileName(definition)}`);
    expect(template.split(CRD_METADATA)).toHaveLength(2);
    const rendered = template.replace(CRD_METADATA, "").replaceAll('{{ "{{" }}', "{{");
    expect(parse(rendered)).toEqual(crd);
  });

  test("no reference is left in it", () => {
    expect(JSON.stringify(crd)).not.toContain("$ref");
  });

  test("every field of ours has a description, which ends as a sentence", () => {
    for (const { path, schema } of [
      ...ownFields("spec", definition.spec.schema),
      ...ownFields("status", definition.status.schema),
    ])
      expect([path, schema.description]).toEqual([path, expect.stringMatching(/^[A-Z`].*\.$/)]);
  });
});

interface OwnField {
  readonly path: string;
  readonly schema: StructuralSchema;
}

function ownFields(path: string, schema: StructuralSchema): readonly OwnField[] {
  const below = Object.entries((schema.items ?? schema).properties ?? {});
  return [{ path, schema }, ...below.flatMap(([name, property]) => ownFields(`${path}.${name}`, property))];
}

test("columns, short names and required roots", () => {
  expect(
    DEFINITIONS.map(({ names, columns, spec }) => ({
      plural: names.plural,
      shortName: names.shortName,
      finalizer: names.finalizer,
      specRequired: spec.listed,
      columns: columns.map((column) => `${column.name} ${column.type} ${column.jsonPath}`),
    })),
  ).toEqual([
    {
      plural: "fireboltinstances",
      shortName: "fire",
      finalizer: "compute.firebolt.io/instance-cleanup",
      specRequired: true,
      columns: [
        "Phase string .status.phase",
        "Gateway boolean .status.gatewayReady",
        "Metadata boolean .status.metadataReady",
        "Age date .metadata.creationTimestamp",
      ],
    },
    {
      plural: "fireboltengines",
      shortName: "fireng",
      finalizer: "compute.firebolt.io/engine-cleanup",
      specRequired: false,
      columns: [
        "Replicas integer .spec.replicas",
        "Phase string .status.phase",
        'Ready string .status.conditions[?(@.type=="Ready")].status',
        "Generation integer .status.activeGeneration",
        "Age date .metadata.creationTimestamp",
      ],
    },
    {
      plural: "fireboltengineclasses",
      shortName: "firengc",
      finalizer: "compute.firebolt.io/fireboltengineclass-deletion-guard",
      specRequired: false,
      columns: [
        "Bound integer .status.boundEngines",
        'Ready string .status.conditions[?(@.type=="Ready")].status',
        "Age date .metadata.creationTimestamp",
      ],
    },
  ]);
});
