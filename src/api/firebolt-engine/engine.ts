// FireboltEngine: a set of identical query nodes that belong to one instance. Schema, types and resource address.

import { MAX_REPLICAS } from "../defaults.ts";
import type { V1ObjectMeta } from "../generated/kubernetes.ts";
import { ENGINE_NAMES } from "../group.ts";
import { int32, object, required, string } from "../schema/builders.ts";
import { AGE_COLUMN, type KindDefinition, READY_COLUMN } from "../schema/kind-definition.ts";
import { podTemplate } from "../schema/pod-template.ts";
import type { Infer, InferWritten } from "../schema/schema.ts";
import { autoStop } from "./auto-stop.ts";
import { engineSettings } from "./settings.ts";
import { type EngineStatus, engineStatus } from "./status.ts";
import { engineStorage } from "./storage.ts";

const { uiSidecar, drainCheckEnabled, drainCheckInterval, rollout, customEngineConfig } = engineSettings(
  "Unset means the class's value, else",
);

export const engineSpec = object(
  {
    instanceRef: required(
      string({
        description: "Name of the FireboltInstance in the same namespace that the engine belongs to. Cannot change.",
        minLength: 1,
        rules: [{ rule: "oldSelf == self", message: "instanceRef cannot change" }],
      }),
    ),
    engineClassRef: string({
      description:
        "Name of the FireboltEngineClass in the same namespace that supplies the settings that the engine does not set. May change; a change rolls a new generation when the result differs.",
      minLength: 1,
    }),
    replicas: required(
      int32({
        description: "Number of nodes; 0 stops the engine. Written by the operator while auto-stop is enabled.",
        minimum: 0,
        maximum: MAX_REPLICAS,
      }),
    ),
    template: podTemplate(
      "Pod overrides of this engine, as a fragment of a pod template; merged over the class's. The container named engine is the engine itself.",
    ),
    uiSidecar,
    drainCheckEnabled,
    drainCheckInterval,
    rollout,
    metadataEndpointOverride: string({
      description:
        "Metadata endpoint to use instead of the instance's, for metadata in another cluster. May be added later, but never changed or removed.",
    }),
    storage: engineStorage(
      "Data volume of every pod. When no backend is set, the class's storage is used, else an emptyDir.",
    ),
    customEngineConfig,
    autoStop: autoStop("Stops or shrinks the engine when it is idle. Unset means the class's policy, else none."),
  },
  {
    description: "Desired state of the engine.",
    rules: [
      {
        rule: "has(oldSelf.metadataEndpointOverride) ? has(self.metadataEndpointOverride) && oldSelf.metadataEndpointOverride == self.metadataEndpointOverride : true",
        message: "metadataEndpointOverride cannot change or be removed once it is set",
        fieldPath: ".metadataEndpointOverride",
      },
    ],
  },
);
export type EngineSpec = Infer<typeof engineSpec>;

/** As the API server returns it. An engine without a spec is admitted, so the spec may be absent. */
export interface FireboltEngine {
  apiVersion?: string;
  kind?: string;
  metadata?: V1ObjectMeta;
  spec?: EngineSpec;
  status?: EngineStatus;
}

/** In a manifest: fields with a default are optional. */
export interface FireboltEngineManifest extends Omit<FireboltEngine, "spec" | "status"> {
  spec?: InferWritten<typeof engineSpec>;
}

/** The resource type: its address, carrying the type of its objects. */
export const FireboltEngine: typeof ENGINE_NAMES & { readonly objectType?: FireboltEngine } = ENGINE_NAMES;

export const engineDefinition: KindDefinition = {
  names: ENGINE_NAMES,
  description: "A FireboltEngine is a set of identical query nodes that belong to one FireboltInstance.",
  spec: engineSpec,
  status: engineStatus,
  columns: [
    { name: "Replicas", type: "integer", jsonPath: ".spec.replicas", description: "Desired number of nodes" },
    {
      name: "Phase",
      type: "string",
      jsonPath: ".status.phase",
      description: "Step of the rollout, or the terminal phase",
    },
    READY_COLUMN,
    {
      name: "Generation",
      type: "integer",
      jsonPath: ".status.activeGeneration",
      description: "Generation that serves queries",
    },
    AGE_COLUMN,
  ],
};
