// The status of a FireboltEngine: progress of the rollout, last decision of auto-stop, conditions.

import { AUTO_STOP_REASONS, ENGINE_PHASES } from "../phases.ts";
import { boolean, int64, integer, object, required, string, time } from "../schema/builders.ts";
import { CONDITION_MESSAGE_MAX_LENGTH, conditions } from "../schema/condition.ts";
import { HASH_MAX_LENGTH } from "../schema/hash.ts";
import type { Infer } from "../schema/schema.ts";

/** A new generation that no change of spec, class, instance or operator explains is delayed, longer each time. */
const heldRollout = object(
  {
    field: required(string({ description: "First field of the StatefulSet that differs from what was created." })),
    manager: string({
      description: "Last writer of the field, if known: a field manager, or a client of the scale subresource.",
    }),
    attempts: required(integer({ description: "Generations that were started for such edits in a row.", minimum: 0 })),
    until: time({ description: "When the next generation may start; absent while none waits." }),
  },
  { description: "Set while edits of the StatefulSet by other clients keep starting new generations." },
);
export type HeldRollout = Infer<typeof heldRollout>;

/** Of a cause with its next step, in characters; code that stores one cuts it to this. */
export const FAILURE_MAX_LENGTH = 1_024;

/** Event reasons and messages are for people; the next pass reads these instead. */
const reported = object(
  {
    refusal: string({ description: "Hash of the refusal that Ready shows.", maxLength: HASH_MAX_LENGTH }),
    podFailure: string({
      description: "Hash of the cause of a failing pod that Ready shows, without the pod's name.",
      maxLength: HASH_MAX_LENGTH,
    }),
    warning: string({
      description: "Hash of the warning about the StatefulSet that Ready shows.",
      maxLength: HASH_MAX_LENGTH,
    }),
    warningCount: integer({ description: "How often the warning had occurred when Ready last showed a new count." }),
  },
  { description: "What events have reported, so that each cause is reported once." },
);

const reconcileFailure = object(
  {
    cause: required(string({ description: "What failed.", maxLength: FAILURE_MAX_LENGTH })),
    readyMessage: required(
      string({ description: "The message of Ready without the failure.", maxLength: CONDITION_MESSAGE_MAX_LENGTH }),
    ),
  },
  { description: "Failure of the last reconcile, which the message of Ready ends with. Absent after a success." },
);

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
    drainCheckForbidden: boolean({
      description:
        "Whether the drain check that Ready reports failed because reading the metrics of pods is forbidden.",
    }),
    highestGeneration: integer({
      description:
        "Highest generation number ever used. Present when the operator switched back to a draining generation and currentGeneration is lower.",
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
    scrapeFailure: string({
      description:
        "Why auto-stop cannot determine whether queries run, and what to do about it; the engine keeps running meanwhile. Absent otherwise.",
      maxLength: FAILURE_MAX_LENGTH,
    }),
    reconcileFailure,
    reported,
    observedAuthHash: string({
      description: "Hash of the authentication settings confirmed on the stable generation.",
    }),
    observedEngineTLSHash: string({ description: "Hash of the TLS settings confirmed on the stable generation." }),
    observedEngineServingCertFP: string({ description: "Fingerprint of the certificate that the engine serves." }),
    observedEngineServingCertGen: integer({ description: "Generation that the fingerprint was seen on." }),
    conditions: conditions("Ready: whether queries are served. InstanceReady: whether the instance can be used."),
  },
  { description: "Observed state. Written only by the operator." },
);
export type EngineStatus = Infer<typeof engineStatus>;
