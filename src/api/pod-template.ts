// The embedded pod template: the type comes from Kubernetes' own OpenAPI document, the schema is put in by the generator.
// What a template may contain beyond its schema is judged by the features that render it.
import type { V1PodSpec } from "./generated/kubernetes.ts";
import type { Node } from "./schema.ts";

/** A fragment of a pod template: unlike in a PodTemplateSpec, containers may be left out. Metadata is stored untouched. */
export interface PodTemplateFragment {
  metadata?: PodTemplateMetadata;
  spec?: Omit<V1PodSpec, "containers"> & { containers?: V1PodSpec["containers"] };
}

/** The schema does not look inside the metadata, so neither labels nor annotations are known to be maps of strings. */
export interface PodTemplateMetadata {
  labels?: unknown;
  annotations?: unknown;
  [key: string]: unknown;
}

export const podTemplate = (description: string): Node<PodTemplateFragment, PodTemplateFragment, "optional"> => ({
  schema: { description, $ref: "PodTemplateSpec" },
  presence: "optional",
  listed: false,
});
