// The embedded pod template: its type comes from Kubernetes' OpenAPI document, its schema is inserted by the
// generator. Rules beyond the schema are in src/podtemplate.
import type { V1PodSpec } from "../generated/kubernetes.ts";
import type { Node } from "./schema.ts";

/**
 * A fragment of a pod template: unlike in a PodTemplateSpec, containers may be left out. Metadata is stored untouched.
 */
export interface PodTemplateFragment {
  metadata?: PodTemplateMetadata;
  spec?: Omit<V1PodSpec, "containers"> & { containers?: V1PodSpec["containers"] };
}

/** The schema does not validate the metadata: labels and annotations may be anything. */
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
