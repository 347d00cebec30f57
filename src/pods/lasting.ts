// A trouble with the moment from which it counts: what a healthy pod passes through as well is reported only once it has lasted.

import type { V1Pod } from "../api/generated/kubernetes.ts";
import type { DeepReadonly } from "../api/values/deep-readonly.ts";

export interface Lasting {
  readonly cause: string;
  readonly next: string;
  readonly dueMs: number;
  /** The container runs, or ran and exited by itself; unset when it never started or exceeded its memory limit. */
  readonly hasRun?: true;
  /** The container that the cause is about. */
  readonly container?: string;
}

/** An unknown time lies in the past. */
export function ms(time: string | undefined): number {
  const parsed = Date.parse(time ?? "");
  return Number.isNaN(parsed) ? 0 : parsed;
}

export function transitionMs({ status }: DeepReadonly<V1Pod>, type: string): number {
  return ms(status?.conditions?.find((one) => one.type === type)?.lastTransitionTime);
}
