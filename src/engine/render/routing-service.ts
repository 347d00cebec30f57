// The routing Service: the one name of an engine, whose selector names the generation that serves.
import type { V1Service } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import { type EngineIdentity, routingServiceName } from "../model/names.ts";
import { servicePorts } from "./headless-service.ts";
import { generationLabels, metadataOf } from "./metadata.ts";

/**
 * Selects the pods of `generation`. Carries no generation label of its own: sweeps of generations must not touch it.
 */
export function renderRoutingService(engine: EngineIdentity, generation: number): V1Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(engine, routingServiceName(engine.name), { [LABEL.engine]: engine.name }),
    spec: {
      type: "ClusterIP",
      clusterIP: "None",
      // DNS returns ready pods only.
      publishNotReadyAddresses: false,
      selector: generationLabels(engine.name, generation),
      ports: servicePorts(),
    },
  };
}
