// The schema of one condition. Their reasons are in reasons.ts; the controllers decide when each one is set.

import { array, enumOf, int64, object, required, string, time } from "./builders.ts";
import type { Infer } from "./schema.ts";

export type ConditionStatus = "True" | "False" | "Unknown";

/** Kubernetes' own rule for reasons. Reasons taken from events are checked against it. */
export const CONDITION_REASON_PATTERN = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
export const CONDITION_REASON_MAX_LENGTH = 1024;
export const CONDITION_MESSAGE_MAX_LENGTH = 32_768;

const CONDITION_TYPE_PATTERN =
  "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

export const condition = object(
  {
    type: required(
      string({
        description: "Type of the condition, in CamelCase.",
        pattern: CONDITION_TYPE_PATTERN,
        maxLength: 316,
      }),
    ),
    status: required(enumOf(["True", "False", "Unknown"], { description: "Whether the condition holds." })),
    reason: required(
      string({
        description: "Reason for the status, in CamelCase.",
        pattern: CONDITION_REASON_PATTERN,
        minLength: 1,
        maxLength: CONDITION_REASON_MAX_LENGTH,
      }),
    ),
    message: required(
      string({
        description: "Details of the reason, for people. May be empty.",
        maxLength: CONDITION_MESSAGE_MAX_LENGTH,
      }),
    ),
    lastTransitionTime: required(time({ description: "When the status last changed." })),
    observedGeneration: int64({ description: "The metadata.generation that the condition was set for.", minimum: 0 }),
  },
  { description: "One aspect of the state of the object." },
);
export type Condition = Infer<typeof condition>;

export const conditions = (description: string) => array(condition, { description });
