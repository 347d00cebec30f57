// The chart that holds nothing but the CRDs, so that they can be upgraded apart from the operator. Made from the same
// manifests as config/crd.

import { buildCrd, crdFileName, toYaml } from "../../src/api/schema/crd.ts";
import type { KindDefinition } from "../../src/api/schema/kind-definition.ts";
import type { StructuralSchema } from "../../src/api/schema/schema.ts";
import { HEADER } from "./crd.ts";

export const KUBE_VERSION = ">=1.29.0-0";

/** Guarded by a value: deleting the release must not delete every instance and engine with it. */
export const CRD_METADATA = [
  '  {{- with merge (dict) (ternary (dict "helm.sh/resource-policy" "keep") (dict) .Values.crds.keep) .Values.crds.annotations }}',
  "  annotations:",
  "    {{- toYaml . | nindent 4 }}",
  "  {{- end }}",
  "  {{- with .Values.crds.labels }}",
  "  labels:",
  "    {{- toYaml . | nindent 4 }}",
  "  {{- end }}",
  "",
].join("\n");

export interface ChartInput {
  readonly definitions: readonly KindDefinition[];
  readonly podTemplate: StructuralSchema;
  /** Version of the package: chart and application move together. */
  readonly version: string;
}

/** Files of the chart by their path inside it. */
export function renderCrdChart({ definitions, podTemplate, version }: ChartInput): ReadonlyMap<string, string> {
  const templates = definitions.map(
    (definition) => [`templates/${crdFileName(definition)}`, renderTemplate(definition, podTemplate)] as const,
  );
  return new Map([
    ["Chart.yaml", renderChart(version)],
    ["values.yaml", VALUES],
    ["values.schema.json", VALUES_SCHEMA],
    ...templates,
  ]);
}

function renderTemplate(definition: KindDefinition, podTemplate: StructuralSchema): string {
  const { metadata, spec, ...head } = buildCrd(definition, podTemplate);
  return [HEADER, toYaml(head), asText(toYaml({ metadata })), CRD_METADATA, asText(toYaml({ spec }))].join("");
}

/** Braces in descriptions are text, not actions. */
const asText = (yaml: string): string => yaml.replaceAll("{{", '{{ "{{" }}');

const renderChart = (version: string): string =>
  HEADER +
  toYaml({
    apiVersion: "v2",
    name: "firebolt-operator-crds",
    description: "Custom resource definitions of the Firebolt operator",
    type: "application",
    version,
    kubeVersion: KUBE_VERSION,
  });

const VALUES = `${HEADER}crds:
  # Keep the CRDs, and with them all instances and engines, when the release is uninstalled.
  keep: true
  # Annotations and labels of the CRDs.
  annotations: {}
  labels: {}
`;

const TEXTS = { type: "object", additionalProperties: { type: "string" } };

/** A value that does not exist is refused, not ignored. */
const VALUES_SCHEMA = `${JSON.stringify(
  {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Values of the Firebolt operator's CRD chart",
    type: "object",
    additionalProperties: false,
    properties: {
      global: { type: "object" },
      crds: {
        type: "object",
        additionalProperties: false,
        properties: { keep: { type: "boolean" }, annotations: TEXTS, labels: TEXTS },
      },
    },
  },
  undefined,
  2,
)}\n`;
