// Metrics hooks of the engine reconciler. No series and no names here; src/metrics turns these calls into them.

import type { EngineStatus } from "../api/firebolt-engine/status.ts";
import type { DeepReadonly } from "../api/values/deep-readonly.ts";
import type { EngineKey } from "./cluster/engine-cluster.ts";
import type { Removal } from "./model/decision.ts";

/** How one pass past initialisation ended. */
export interface EnginePassRecord {
  readonly engine: EngineKey;
  readonly instance: string;
  readonly status: DeepReadonly<EngineStatus> | undefined;
  readonly replicas: number;
  /** Pods of the current generation; undefined when the pass ended before they were read. */
  readonly pods: { readonly ready: number; readonly total: number } | undefined;
  readonly succeeded: boolean;
  readonly nowMs: number;
}

export interface EngineMetrics {
  passEnded(record: EnginePassRecord): void;
  phaseChanged(engine: EngineKey, from: string, to: string): void;
  /** A rollout begins with a new number and ends at rest, or is abandoned for the next number. */
  rollout(engine: EngineKey, step: "started" | "completed" | "abandoned"): void;
  drainCheckFailed(engine: EngineKey): void;
  /** Auto-stop has changed the number of replicas. */
  scaled(engine: EngineKey, direction: "up" | "down", reason: string): void;
  orphanDeleted(engine: EngineKey, kind: Removal["kind"]): void;
  /** The engine was deleted: its series are removed. */
  removed(engine: EngineKey): void;
}

const ignore = (): void => undefined;

export const noEngineMetrics: EngineMetrics = {
  passEnded: ignore,
  phaseChanged: ignore,
  rollout: ignore,
  drainCheckFailed: ignore,
  scaled: ignore,
  orphanDeleted: ignore,
  removed: ignore,
};
