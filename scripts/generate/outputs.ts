// Every generated file as text, by its path from the root of the repository. Reads only what it is given: running it twice
// gives the same texts.

import { engineDefinition } from "../../src/api/firebolt-engine/engine.ts";
import { engineClassDefinition } from "../../src/api/firebolt-engine/engine-class.ts";
import { instanceDefinition } from "../../src/api/firebolt-instance/instance.ts";
import { crdFileName } from "../../src/api/schema/crd.ts";
import type { StructuralSchema } from "../../src/api/schema/schema.ts";
import { renderCrdChart } from "./chart.ts";
import { renderCrd } from "./crd.ts";
import { IMAGE_LIST_FILE, renderImageList } from "./image-list.ts";
import { renderKubernetesTypes } from "./kubernetes-types.ts";
import type { OpenApi } from "./openapi.ts";
import { renderOperatorChart } from "./operator-chart.ts";
import { buildPodTemplateSchema } from "./pod-template.ts";
import { renderReference } from "./reference.ts";

export const POD_TEMPLATE_FILE = "src/api/generated/pod-template.schema.json";
export const KUBERNETES_TYPES_FILE = "packages/kube/src/kinds/kubernetes.ts";

export const DEFINITIONS = [instanceDefinition, engineDefinition, engineClassDefinition] as const;

/** The reduced pod template schema as it is committed, with the version it was taken from. */
export interface PodTemplateFile {
  readonly kubernetesVersion: string;
  readonly schema: StructuralSchema;
}

/** Files taken from Kubernetes' OpenAPI documents. Everything else can be made without those. */
export function renderFromOpenApi(openApi: OpenApi): ReadonlyMap<string, string> {
  const file: PodTemplateFile = {
    kubernetesVersion: openApi.kubernetesVersion,
    schema: buildPodTemplateSchema(openApi),
  };
  return new Map([
    [POD_TEMPLATE_FILE, `${JSON.stringify(file, undefined, 1)}\n`],
    [KUBERNETES_TYPES_FILE, renderKubernetesTypes(openApi)],
  ]);
}

/** Files made from our own definitions and the reduced pod template schema. */
export function renderFromDefinitions(podTemplate: PodTemplateFile, version: string): ReadonlyMap<string, string> {
  const { schema, kubernetesVersion } = podTemplate;
  const chart = renderCrdChart({ definitions: DEFINITIONS, podTemplate: schema, version });
  return new Map([
    ...DEFINITIONS.map((kind) => [`config/crd/${crdFileName(kind)}`, renderCrd(kind, schema)] as const),
    ...DEFINITIONS.map(
      (kind) => [`docs/reference/${kind.names.singular}.md`, renderReference(kind, kubernetesVersion)] as const,
    ),
    ...DEFINITIONS.map(
      (kind) => [`charts/firebolt-operator/crds/${crdFileName(kind)}`, renderCrd(kind, schema)] as const,
    ),
    ["charts/firebolt-operator/Chart.yaml", renderOperatorChart(version)],
    [IMAGE_LIST_FILE, renderImageList(version)],
    ...[...chart].map(([path, text]) => [`charts/firebolt-operator-crds/${path}`, text] as const),
  ]);
}

export function parsePodTemplateFile(text: string): PodTemplateFile {
  const file: unknown = JSON.parse(text);
  if (!isPodTemplateFile(file)) throw new Error(`${POD_TEMPLATE_FILE} has no kubernetesVersion or no schema`);
  return file;
}

function isPodTemplateFile(value: unknown): value is PodTemplateFile {
  if (typeof value !== "object" || value === null) return false;
  return "kubernetesVersion" in value && typeof value.kubernetesVersion === "string" && "schema" in value;
}
