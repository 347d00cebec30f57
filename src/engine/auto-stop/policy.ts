// The auto-stop policy that counts for an engine: its own block or its class's, always as a whole, with usable numbers
// in it.

import { SCHEMA_DEFAULTS } from "../../api/defaults.ts";
import type { AutoStop, ScheduleWindow } from "../../api/firebolt-engine/auto-stop.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { goDurationMs } from "../../api/values/go-duration.ts";

type Block = DeepReadonly<AutoStop> | undefined;

/** A policy that is switched on. */
export interface AutoStopPolicy {
  readonly activeReplicas: number;
  readonly idleReplicas: number;
  readonly idleTimeoutMs: number;
  readonly pollIntervalMs: number;
  readonly schedule: readonly DeepReadonly<ScheduleWindow>[];
}

const DEFAULTS = SCHEMA_DEFAULTS.autoStop;

/** Undefined: off. The two blocks are never merged field by field. */
export function resolvePolicy(ofEngine: Block, ofClass: Block): AutoStopPolicy | undefined {
  const block = ofEngine ?? ofClass;
  if (block?.enabled !== true) return undefined;
  return {
    activeReplicas: block.activeReplicas,
    idleReplicas: block.idleReplicas,
    idleTimeoutMs: positiveMs(block.idleTimeout, DEFAULTS.idleTimeout),
    pollIntervalMs: positiveMs(block.pollInterval, DEFAULTS.pollInterval),
    schedule: block.schedule ?? [],
  };
}

/** No interval is shorter: an engine that is polled a thousand times a second takes a worker for itself. */
const SHORTEST_MS = 1_000;

/** What is no positive duration counts as the default: zero would stop a busy engine, or poll without a pause. */
function positiveMs(text: string, fallback: string): number {
  const ms = goDurationMs(text);
  return Math.max(SHORTEST_MS, ms !== undefined && ms > 0 ? ms : (goDurationMs(fallback) ?? 0));
}
