// The auto-stop policy: `spec.autoStop` of FireboltEngine and FireboltEngineClass.
import { MAX_REPLICAS, SCHEMA_DEFAULTS } from "../defaults.ts";
import { array, boolean, enumOf, int32, object, required, string } from "../schema/builders.ts";
import { goDuration } from "../schema/durations.ts";
import type { Infer } from "../schema/schema.ts";

const DEFAULTS = SCHEMA_DEFAULTS.autoStop;
const TIME_OF_DAY = "^([01]\\d|2[0-3]):[0-5]\\d$";

/** In the order of the week, as schedules write them. */
export const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const scheduleWindow = object(
  {
    start: required(
      string({ description: "First minute of the window, HH:MM in UTC (24 hours, two digits).", pattern: TIME_OF_DAY }),
    ),
    end: required(
      string({
        description:
          "First minute after the window. Before `start` it lies on the next day; equal makes the window empty.",
        pattern: TIME_OF_DAY,
      }),
    ),
    days: array(enumOf(WEEKDAYS, { description: "A day of the week." }), {
      description:
        "Days on which the window starts. Empty means every day; the part after midnight belongs to the day of `start`.",
    }),
  },
  { description: "A window that keeps the engine at activeReplicas." },
);
export type ScheduleWindow = Infer<typeof scheduleWindow>;

export const autoStop = (description: string) =>
  object(
    {
      enabled: required(boolean({ description: "Turns the policy on.", default: DEFAULTS.enabled })),
      activeReplicas: required(
        int32({ description: "Number of nodes while the engine is in use.", minimum: 1, maximum: MAX_REPLICAS }),
      ),
      idleReplicas: int32({
        description: "Number of nodes once the engine is idle; 0 stops it.",
        default: DEFAULTS.idleReplicas,
        minimum: 0,
        maximum: MAX_REPLICAS,
      }),
      idleTimeout: goDuration({
        field: "idleTimeout",
        description: `How long the engine must be idle before it is scaled down. Zero or less counts as ${DEFAULTS.idleTimeout}.`,
        default: DEFAULTS.idleTimeout,
      }),
      pollInterval: goDuration({
        field: "pollInterval",
        description: `How often the engine is polled for running queries. Zero or less counts as ${DEFAULTS.pollInterval}.`,
        default: DEFAULTS.pollInterval,
      }),
      schedule: array(scheduleWindow, { description: "Windows, in UTC, that keep the engine at activeReplicas." }),
    },
    {
      description,
      rules: [
        {
          rule: "!has(self.idleReplicas) || self.idleReplicas <= self.activeReplicas",
          message: "activeReplicas must not be below idleReplicas",
          fieldPath: ".idleReplicas",
        },
      ],
    },
  );
export type AutoStop = Infer<ReturnType<typeof autoStop>>;
