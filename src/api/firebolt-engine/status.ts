// The status of a FireboltEngine: progress of the rollout, last decision of auto-stop, conditions.

import { AUTO_STOP_REASONS, ENGINE_PHASES } from "../phases.ts";
import { boolean, int64, integer, object, required, string, time } from "../schema/builders.ts";
import { conditions } from "../schema/condition.ts";
import type { Infer } from "../schema/schema.ts";

/** A new generation that no change of spec, class, instance or operator explains is delayed, longer each time. */
const heldRollout = object(
  {
    field: required(string({ description: "First field of the StatefulSet that differs from what was created." })),
    manager: string({
      description:
        "Who last wrote the field, as far as it is known: a field manager, or a client of the scale subresource.",
    }),
    attempts: required(integer({ description: "Generations that were started for such edits in a row.", minimum: 0 })),
    until: time({ description: "When the next generation may start; absent while none waits." }),
  },
  { description: "Set while edits of the StatefulSet by others keep starting new generations." },
);
export type HeldRollout = Infer<typeof heldRollout>;

export const engineStatus = object(
  {
    observedGeneration: int64({ description: "The metadata.generation that last reached a terminal phase." }),
    currentGeneration: required(integer({ description: "Newest generation number, counted from 0." })),
    activeGeneration: required(integer({ description: "Generation that serves queries; -1 before the first." })),
    drainingGeneration: integer({ description: "Generation that is being drained; absent otherwise." }),
    drainingSince: time({
      description: "When queries were last routed away from the draining generation. Present in the phase draining.",
    }),
    drainChecked: boolean({
      description:
        "Whether a drain check has found running queries or failed, which an event reports once. Present in the phase draining.",
    }),
    highestGeneration: integer({
      description:
        "Highest generation number ever used. Present when a draining generation was taken back and currentGeneration is lower.",
    }),
    rolloutHash: string({ description: "Hash of what the newest generation was rendered from." }),
    heldRollout,
    phase: string({ description: `Step of the rollout: ${ENGINE_PHASES.join(", ")}. The last two are terminal.` }),
    lastReconciled: time({ description: "When the status was last written." }),
    lastActivityTime: time({
      description:
        "Last time that queries ran, that activity could not be read, or that the engine was first observed idle. Absent while auto-stop is off.",
    }),
    lastScaledAt: time({
      description:
        "Last time auto-stop changed spec.replicas, or observed that another client had set it to 0. Only later wake requests count.",
    }),
    autoStopReason: string({ description: `Last decision of auto-stop: ${AUTO_STOP_REASONS.join(", ")}.` }),
    observedAuthHash: string({
      description: "Hash of the authentication settings confirmed on the stable generation.",
    }),
    observedEngineTLSHash: string({ description: "Hash of the TLS settings confirmed on the stable generation." }),
    observedEngineServingCertFP: string({ description: "Fingerprint of the certificate that the engine serves." }),
    observedEngineServingCertGen: integer({ description: "Generation that the fingerprint was seen on." }),
    conditions: conditions("Ready: whether queries are served. InstanceReady: whether the instance can be used."),
  },
  { description: "What the operator has observed and done. Written by the operator alone." },
);
export type EngineStatus = Infer<typeof engineStatus>;
