// Settings that are read live and never reshape the pod: the engine's value, else the class's, else the operator's
// default.

import { ENGINE_DEFAULTS } from "../../api/defaults.ts";
import type { EngineSpec } from "../../api/firebolt-engine/engine.ts";
import type { EngineClassSpec } from "../../api/firebolt-engine/engine-class.ts";
import type { Rollout } from "../../api/firebolt-engine/settings.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { goDurationMs } from "../../api/values/go-duration.ts";

export interface RolloutSettings {
  readonly rollout: Rollout;
  readonly drainCheckEnabled: boolean;
  readonly drainCheckIntervalMs: number;
}

/** Both specs may be absent: the schema admits objects without one, and an engine may outlive its class. */
export function resolveSettings(
  ofClass: DeepReadonly<EngineClassSpec> | undefined,
  ofEngine: DeepReadonly<EngineSpec> | undefined,
): RolloutSettings {
  return {
    rollout: ofEngine?.rollout ?? ofClass?.rollout ?? ENGINE_DEFAULTS.rollout,
    drainCheckEnabled: ofEngine?.drainCheckEnabled ?? ofClass?.drainCheckEnabled ?? ENGINE_DEFAULTS.drainCheckEnabled,
    drainCheckIntervalMs: intervalMs(ofEngine?.drainCheckInterval ?? ofClass?.drainCheckInterval),
  };
}

/** However short an interval is set: a poll must not turn into a hot loop. */
export const SHORTEST_INTERVAL_MS = 1_000;

/** What is no positive duration counts as the default: a poll must not stop either. */
function intervalMs(text: string | undefined): number {
  const ms = text === undefined ? undefined : goDurationMs(text);
  const wantedMs = ms !== undefined && ms > 0 ? ms : (goDurationMs(ENGINE_DEFAULTS.drainCheckInterval) ?? 5_000);
  return Math.max(wantedMs, SHORTEST_INTERVAL_MS);
}
