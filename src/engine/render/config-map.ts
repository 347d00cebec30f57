// The ConfigMap of one generation: the engine's configuration file. Frozen with the generation, because the node list
// is in it.
import type { V1ConfigMap } from "../../api/generated/kubernetes.ts";
import type { JsonObject } from "../../podtemplate/shapes/shape.ts";
import { configMapName, nodeHost } from "../model/names.ts";
import { CONFIG_FILE, TERMINATION_GRACE_SECONDS } from "../model/pod-contract.ts";
import { deepMerge } from "../resolve/custom-config.ts";
import { configText } from "./config-text.ts";
import type { RenderInput } from "./generation.ts";
import { generationMetadata } from "./metadata.ts";

/** The engine rejects any other version of its file. */
const SCHEMA_VERSION = "1.0";
/** The engine must be done before the kubelet loses patience. */
const GRACE_MARGIN_SECONDS = 5;

export function renderConfigMap(input: RenderInput): V1ConfigMap {
  const { engine, generation } = input;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: generationMetadata(engine, generation, configMapName(engine.name, generation)),
    data: { [CONFIG_FILE]: configText(renderConfig(input)) },
  };
}

/**
 * The operator's document with the user's keys laid over it. What the operator owns has been taken out of the latter.
 */
export function renderConfig({ engine, effective, generation, instance }: RenderInput): JsonObject {
  const document = {
    schema_version: SCHEMA_VERSION,
    instance: {
      id: instance.id,
      type: "multi_engine",
      multi_engine: { metadata_endpoint: effective.metadataEndpointOverride ?? instance.metadataEndpoint },
    },
    engine: {
      id: engine.name,
      // A node finds itself by its index, so the order is that of the pods.
      nodes: Array.from({ length: effective.replicas }, (_, index) => ({ host: nodeHost(engine, generation, index) })),
      termination_grace_period: `${Math.max(1, TERMINATION_GRACE_SECONDS - GRACE_MARGIN_SECONDS)}s`,
    },
    logging: { format: "json" },
  };
  return deepMerge(document, effective.customConfig.config);
}
