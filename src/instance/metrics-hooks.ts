// What the instance's reconciler tells whoever counts. No series and no names here; src/metrics turns these calls into them.
import type { DeepReadonly } from "../api/deep-readonly.ts";
import type { InstanceStatus } from "../api/instance-status.ts";
import type { Troubles } from "./snapshot.ts";
import type { InstanceKey } from "./world.ts";

/** How one pass past initialisation ended. */
export interface InstancePassRecord {
  readonly instance: InstanceKey;
  readonly id: string;
  readonly postgresMode: "internal" | "external";
  readonly status: DeepReadonly<InstanceStatus> | undefined;
  /** Components whose pods are not all ready, for a cause that their pods name. */
  readonly stuck: readonly (keyof Troubles)[];
  readonly succeeded: boolean;
  readonly nowMs: number;
}

export interface InstanceMetrics {
  passEnded(record: InstancePassRecord): void;
  /** The instance is gone: so are its series. */
  removed(instance: InstanceKey): void;
}

const ignore = (): void => undefined;

export const noInstanceMetrics: InstanceMetrics = { passEnded: ignore, removed: ignore };
