// Metadata that the engine's objects share: labels, and the owner reference by which the API server removes them with
// it.
import type { V1ObjectMeta, V1OwnerReference } from "../../api/generated/kubernetes.ts";
import { API_VERSION, ENGINE_NAMES } from "../../api/group.ts";
import { LABEL } from "../../api/labels.ts";
import type { EngineIdentity } from "../model/names.ts";

/** The two labels of a generation: on its objects, on its pods and in every selector. */
export function generationLabels(engine: string, generation: number): Record<string, string> {
  return { [LABEL.engine]: engine, [LABEL.generation]: String(generation) };
}

/** Metadata of an object that belongs to one generation. */
export function generationMetadata(engine: EngineIdentity, generation: number, name: string) {
  return metadataOf(engine, name, generationLabels(engine.name, generation));
}

export function metadataOf(engine: EngineIdentity, name: string, labels: Record<string, string>) {
  return {
    name,
    namespace: engine.namespace,
    labels,
    ownerReferences: [ownerReference(engine)],
  } satisfies V1ObjectMeta;
}

function ownerReference({ name, uid }: EngineIdentity): V1OwnerReference {
  return {
    apiVersion: API_VERSION,
    kind: ENGINE_NAMES.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
