// Settings of engines and classes: the engine's value wins, then the class's, then the operator's default. None has a
// schema default, which would hide the class's value.

import { ENGINE_DEFAULTS } from "../defaults.ts";
import { rejectEnabling } from "../schema/availability.ts";
import { boolean, enumOf, freeObject } from "../schema/builders.ts";
import { goDuration } from "../schema/durations.ts";

export const ROLLOUTS = ["graceful", "recreate"] as const;
export type Rollout = (typeof ROLLOUTS)[number];

/** The shared fields. `fallback` is the beginning of the sentence about unset fields; the default is its end. */
export const engineSettings = (fallback: string) => ({
  uiSidecar: boolean({
    description: `Adds the web UI container engine-web (port 9100) to every pod. ${fallback} ${ENGINE_DEFAULTS.uiSidecar}. Not available yet.`,
    rules: [rejectEnabling("spec.uiSidecar", "the web UI sidecar")],
  }),
  drainCheckEnabled: boolean({
    description: `Waits until old pods run no query before removing them. ${fallback} ${ENGINE_DEFAULTS.drainCheckEnabled}.`,
  }),
  drainCheckInterval: goDuration({
    field: "drainCheckInterval",
    description: `How often a draining generation is polled for running queries. ${fallback} ${ENGINE_DEFAULTS.drainCheckInterval}; zero or less counts as ${ENGINE_DEFAULTS.drainCheckInterval}.`,
  }),
  rollout: enumOf(ROLLOUTS, {
    description: `How the old generation is removed: drained first (graceful) or deleted immediately (recreate). ${fallback} ${ENGINE_DEFAULTS.rollout}.`,
  }),
  customEngineConfig: freeObject({
    description:
      "Fragment of the engine's config.yaml, merged over the operator's document: class first, then engine. " +
      "Keys that the operator owns (schema_version, endpoints, instance.{id,type,multi_engine,auth}, " +
      "engine.{id,nodes,termination_grace_period}) are left out.",
  }),
});
