// The headless Service of one generation: the names under which its nodes find each other.
import type { V1Service, V1ServicePort } from "../../api/generated/kubernetes.ts";
import { type EngineIdentity, headlessServiceName } from "../model/names.ts";
import { ENGINE_PORTS } from "../model/pod-contract.ts";
import { generationLabels, generationMetadata } from "./metadata.ts";

export const servicePorts = (): V1ServicePort[] =>
  ENGINE_PORTS.map(({ name, port }) => ({ name, port, targetPort: port, protocol: "TCP" }));

export function renderHeadlessService(engine: EngineIdentity, generation: number): V1Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: generationMetadata(engine, generation, headlessServiceName(engine.name, generation)),
    spec: {
      clusterIP: "None",
      // No node becomes ready before it has found the others.
      publishNotReadyAddresses: true,
      selector: generationLabels(engine.name, generation),
      ports: servicePorts(),
    },
  };
}
