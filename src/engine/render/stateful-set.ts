// The StatefulSet of one generation.
import type { V1StatefulSet } from "../../api/generated/kubernetes.ts";
import { ANNOTATION } from "../../api/labels.ts";
import { nonEmptyMap, present } from "../../podtemplate/present.ts";
import { RENDERED_HASH, renderedHash } from "../drift/rendered-hash.ts";
import { headlessServiceName, statefulSetName } from "../model/names.ts";
import type { EffectiveEngine } from "../resolve/effective-engine.ts";
import { renderClaimTemplates, renderPodTemplate } from "./engine-pod.ts";
import type { RenderInput } from "./generation.ts";
import { generationLabels, generationMetadata } from "./metadata.ts";

export function renderStatefulSet(input: RenderInput): V1StatefulSet {
  const statefulSet = withoutHash(input);
  const annotations = { ...statefulSet.metadata.annotations, [RENDERED_HASH]: renderedHash(statefulSet) };
  return { ...statefulSet, metadata: { ...statefulSet.metadata, annotations } };
}

function withoutHash({ engine, effective, generation }: RenderInput) {
  const labels = generationLabels(engine.name, generation);
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: present({
      ...generationMetadata(engine, generation, statefulSetName(engine.name, generation)),
      annotations: nonEmptyMap(annotationsOf(effective)),
    }),
    spec: present({
      replicas: effective.replicas,
      serviceName: headlessServiceName(engine.name, generation),
      // No node becomes ready alone, so all must start together.
      podManagementPolicy: "Parallel",
      selector: { matchLabels: labels },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
      template: renderPodTemplate(engine, effective, generation),
      volumeClaimTemplates: renderClaimTemplates(effective.storage, labels),
    }),
  } satisfies V1StatefulSet;
}

/** Inputs of a generation that leave no trace of their own in the pod. */
function annotationsOf({ metadataEndpointOverride, customConfig, classHash }: EffectiveEngine): Record<string, string> {
  return {
    ...(metadataEndpointOverride === undefined ? {} : { [ANNOTATION.metadataOverride]: metadataEndpointOverride }),
    ...(customConfig.hash === undefined ? {} : { [ANNOTATION.customEngineConfigHash]: customConfig.hash }),
    ...(classHash === undefined ? {} : { [ANNOTATION.engineClassHash]: classHash }),
  };
}
