// Small inputs through the writers of the chart, the reference page and the Kubernetes types: what comes out, literally.
import { describe, expect, test } from "vitest";
import { int32, object, required, string } from "../../src/api/schema/builders.ts";
import type { KindDefinition } from "../../src/api/schema/kind-definition.ts";
import { CRD_METADATA, renderCrdChart } from "./chart.ts";
import { renderKubernetesTypes } from "./kubernetes-types.ts";
import type { OpenApi, OpenApiSchema } from "./openapi.ts";
import { renderReference } from "./reference.ts";

const definition: KindDefinition = {
  names: {
    group: "example.com",
    version: "v1",
    kind: "Thing",
    plural: "things",
    singular: "thing",
    shortName: "th",
    namespaced: true,
    finalizer: "example.com/cleanup",
  },
  description: "A thing.",
  spec: object(
    {
      choice: required(string({ description: "Uses {{ braces }} | bars.", pattern: "^(a|b)$" })),
      count: int32({ description: "A count.", default: 3, minimum: 1, maximum: 9 }),
    },
    { description: "The spec.", rules: [{ rule: "true", message: "never refused" }] },
  ),
  status: object({}, { description: "The status." }),
  columns: [],
};

test("the chart escapes braces and guards the annotation", () => {
  const files = renderCrdChart({ definitions: [definition], podTemplate: { type: "object" }, version: "1.2.3" });
  expect([...files.keys()]).toEqual([
    "Chart.yaml",
    "values.yaml",
    "values.schema.json",
    "templates/example.com_things.yaml",
  ]);
  expect(files.get("Chart.yaml")).toContain("version: 1.2.3\n");
  const template = files.get("templates/example.com_things.yaml") ?? "";
  expect(template).toContain('Uses {{ "{{" }} braces }} | bars.');
  expect(template).toContain(`  name: things.example.com\n${CRD_METADATA}spec:\n`);
  expect(CRD_METADATA).toContain('(dict "helm.sh/resource-policy" "keep") (dict) .Values.crds.keep');
});

test("the reference page has a row per field", () => {
  const page = renderReference(definition, "v1.36.3");
  expect(page).toContain("| `spec` | object |  | never refused | The spec. |");
  expect(page).toContain("| `spec.choice` | string |  | **required**; `^(a\\|b)$` | Uses {{ braces }} \\| bars. |");
  expect(page).toContain("| `spec.count` | int32 | `3` | 1–9 | A count. |");
});

describe("Kubernetes types", () => {
  const roots = (name: string): OpenApiSchema => ({
    type: "object",
    properties: { name: { type: "string", description: name } },
  });

  test("optional fields are optional, lists and maps keep their element, equal names get their group", () => {
    const text = renderKubernetesTypes(
      openApiWith({
        "io.k8s.api.core.v1.Pod": {
          type: "object",
          required: ["list"],
          properties: {
            list: {
              type: "array",
              items: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString" },
            },
            map: {
              type: "object",
              additionalProperties: {
                allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity" }],
              },
            },
            time: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time" },
            "odd-name": {},
          },
        },
        "io.k8s.apimachinery.pkg.apis.meta.v1.Time": { type: "string", format: "date-time" },
        "io.k8s.api.core.v1.Event": roots("core"),
        "io.k8s.api.events.v1.Event": roots("events"),
      }),
    );
    expect(text).toContain(
      'export interface V1Pod {\n  list: IntOrString[];\n  map?: Record<string, Quantity>;\n  time?: string;\n  "odd-name"?: unknown;\n}',
    );
    expect(text).toContain("export interface CoreV1Event {\n  name?: string;\n}");
    expect(text).toContain("export interface EventsV1Event {\n  name?: string;\n}");
  });

  test("a kind that is gone is an error", () => {
    expect(() => renderKubernetesTypes({ kubernetesVersion: "v9.9.9", schemas: new Map() })).toThrow(
      "v9.9.9 has no schema",
    );
  });

  /** Every kind as an empty object, apart from those given. */
  function openApiWith(given: Readonly<Record<string, OpenApiSchema>>): OpenApi {
    const schemas = new Map(Object.entries(given));
    const empty: OpenApiSchema = { type: "object" };
    return {
      kubernetesVersion: "v1.36.3",
      schemas: { ...mapMethods(schemas), get: (name: string) => schemas.get(name) ?? empty },
    };
  }
});

/** The other methods of a map, for a map whose `get` returns a value for every name. */
function mapMethods(map: ReadonlyMap<string, OpenApiSchema>): Omit<ReadonlyMap<string, OpenApiSchema>, "get"> {
  return {
    size: map.size,
    has: (name) => map.has(name),
    forEach: (callback) => map.forEach(callback),
    entries: () => map.entries(),
    keys: () => map.keys(),
    values: () => map.values(),
    [Symbol.iterator]: () => map[Symbol.iterator](),
  };
}
