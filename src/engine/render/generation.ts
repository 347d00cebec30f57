// The objects of one generation: ConfigMap, headless Service and StatefulSet. Plain objects; nothing is read or written
// here.
import type { V1StatefulSet } from "../../api/generated/kubernetes.ts";
import type { Part, PartObject } from "../model/child-kinds.ts";
import type { EngineIdentity } from "../model/names.ts";
import type { EffectiveEngine } from "../resolve/effective-engine.ts";
import { renderConfigMap } from "./config-map.ts";
import { renderHeadlessService } from "./headless-service.ts";
import { renderStatefulSet } from "./stateful-set.ts";

/** What an engine takes from its instance. */
export interface InstanceInfo {
  readonly id: string;
  /** `host:port`, without a scheme. */
  readonly metadataEndpoint: string;
}

export interface RenderInput {
  readonly engine: EngineIdentity;
  readonly effective: EffectiveEngine;
  readonly generation: number;
  readonly instance: InstanceInfo;
}

export interface RenderedGeneration extends RenderedParts {
  readonly statefulSet: V1StatefulSet;
}
type RenderedParts = { readonly [P in Part]: PartObject<P> };

export function renderGeneration(input: RenderInput): RenderedGeneration {
  return {
    configMap: renderConfigMap(input),
    headlessService: renderHeadlessService(input.engine, input.generation),
    statefulSet: renderStatefulSet(input),
  };
}
