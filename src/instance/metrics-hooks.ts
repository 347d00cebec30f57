// Metrics hooks of the instance reconciler. No series and no names here; src/metrics maps these calls to them.

import type { InstanceStatus } from "../api/firebolt-instance/status.ts";
import type { DeepReadonly } from "../api/values/deep-readonly.ts";
import type { InstanceKey } from "./cluster/instance-cluster.ts";
import type { Troubles } from "./model/snapshot.ts";

/** The result of one pass after initialisation. */
export interface InstancePassRecord {
  readonly instance: InstanceKey;
  readonly id: string;
  readonly postgresMode: "internal" | "external";
  readonly status: DeepReadonly<InstanceStatus> | undefined;
  /** Components whose pods are not all ready, for a known cause. */
  readonly stuck: readonly (keyof Troubles)[];
  readonly succeeded: boolean;
  readonly nowMs: number;
}

export interface InstanceMetrics {
  passEnded(record: InstancePassRecord): void;
  /** The instance is deleted: its series are removed. */
  removed(instance: InstanceKey): void;
}

const ignore = (): void => undefined;

export const noInstanceMetrics: InstanceMetrics = { passEnded: ignore, removed: ignore };
