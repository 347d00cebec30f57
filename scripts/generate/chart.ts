// The chart that holds nothing but the CRDs, so that they can be upgraded apart from the operator. Made from the same
// manifests as config/crd.
import type { KindDefinition } from "../../src/api/kind-definition.ts";
import type { StructuralSchema } from "../../src/api/schema.ts";
import { buildCrd, crdFileName, HEADER, toYaml } from "./crd.ts";

/** Guarded by a value: deleting the release must not delete every instance and engine with it. */
const KEEP_ANNOTATION = [
  "  {{- if .Values.crds.keep }}",
  "  annotations:",
  "    helm.sh/resource-policy: keep",
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
  return new Map([["Chart.yaml", renderChart(version)], ["values.yaml", VALUES], ...templates]);
}

function renderTemplate(definition: KindDefinition, podTemplate: StructuralSchema): string {
  const { metadata, spec, ...head } = buildCrd(definition, podTemplate);
  return [HEADER, toYaml(head), asText(toYaml({ metadata })), KEEP_ANNOTATION, asText(toYaml({ spec }))].join("");
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
    appVersion: version,
    kubeVersion: ">=1.29.0-0",
  });

const VALUES = `${HEADER}crds:
  # Keep the CRDs, and with them all instances and engines, when the release is uninstalled.
  keep: true
`;
