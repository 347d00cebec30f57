// FireboltEngineClass: defaults for engines of the namespace that reference it. Schema, types and resource address.

import type { V1ObjectMeta } from "../generated/kubernetes.ts";
import { ENGINE_CLASS_NAMES } from "../group.ts";
import { int32, int64, object, required } from "../schema/builders.ts";
import { conditions } from "../schema/condition.ts";
import { AGE_COLUMN, type KindDefinition, READY_COLUMN } from "../schema/kind-definition.ts";
import { podTemplate } from "../schema/pod-template.ts";
import type { Infer, InferWritten } from "../schema/schema.ts";
import { autoStop } from "./auto-stop.ts";
import { engineSettings } from "./settings.ts";
import { engineStorage } from "./storage.ts";

const { uiSidecar, drainCheckEnabled, drainCheckInterval, rollout, customEngineConfig } = engineSettings(
  "Used for engines that leave it unset; unset here as well means",
);

export const engineClassSpec = object(
  {
    template: required(podTemplate("Pod template fragment, merged beneath the engine's own. May be empty.")),
    uiSidecar,
    storage: engineStorage("Data volume, used as a whole by engines that set no backend."),
    customEngineConfig,
    rollout,
    drainCheckEnabled,
    drainCheckInterval,
    autoStop: autoStop("Auto-stop policy, used as a whole by engines that have none."),
  },
  { description: "Defaults for the engines that refer to this class." },
);
export type EngineClassSpec = Infer<typeof engineClassSpec>;

export const engineClassStatus = object(
  {
    observedGeneration: int64({ description: "The metadata.generation that was last reconciled." }),
    boundEngines: int32({
      description: "Number of engines in the namespace that refer to this class. For display only.",
    }),
    conditions: conditions("Ready: whether engines can be rendered from the class."),
  },
  { description: "Observed state. Written only by the operator." },
);
export type EngineClassStatus = Infer<typeof engineClassStatus>;

/** As the API server returns it. A class without a spec is admitted, so the spec may be absent. */
export interface FireboltEngineClass {
  apiVersion?: string;
  kind?: string;
  metadata?: V1ObjectMeta;
  spec?: EngineClassSpec;
  status?: EngineClassStatus;
}

/** In a manifest: fields with a default are optional. */
export interface FireboltEngineClassManifest extends Omit<FireboltEngineClass, "spec" | "status"> {
  spec?: InferWritten<typeof engineClassSpec>;
}

/** The resource type: its address, carrying the type of its objects. */
export const FireboltEngineClass: typeof ENGINE_CLASS_NAMES & { readonly objectType?: FireboltEngineClass } =
  ENGINE_CLASS_NAMES;

export const engineClassDefinition: KindDefinition = {
  names: ENGINE_CLASS_NAMES,
  description: "A FireboltEngineClass holds settings that FireboltEngines of its namespace share by referring to it.",
  spec: engineClassSpec,
  status: engineClassStatus,
  columns: [
    {
      name: "Bound",
      type: "integer",
      jsonPath: ".status.boundEngines",
      description: "Engines that refer to this class",
    },
    READY_COLUMN,
    AGE_COLUMN,
  ],
};
