// Metrics hooks of the class reconciler. No series and no names here; src/metrics turns these calls into them.

import type { EngineClassStatus } from "../api/firebolt-engine/engine-class.ts";
import type { DeepReadonly } from "../api/values/deep-readonly.ts";
import type { ClassKey } from "./engine-class-cluster.ts";

/** How a pass ended that reached a verdict about the class. */
export interface EngineClassPassRecord {
  readonly engineClass: ClassKey;
  /** As it is stored now. */
  readonly status: DeepReadonly<EngineClassStatus>;
}

export interface EngineClassMetrics {
  passEnded(record: EngineClassPassRecord): void;
  /** The class was deleted: its series are removed. */
  removed(engineClass: ClassKey): void;
}

const ignore = (): void => undefined;

export const noEngineClassMetrics: EngineClassMetrics = { passEnded: ignore, removed: ignore };
