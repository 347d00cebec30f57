// What the pods of a generation are worth: how many there are, how many are ready, and which of them may run queries. Pure.
import { firstTrouble, isPodReady, troubleDueMs } from "../pods/pod-trouble.ts";
import type { Pod, StatefulSet } from "./children.ts";
import type { PodCount } from "./snapshot.ts";

export const NO_PODS: PodCount = { wanted: 0, total: 0, ready: 0, allReady: false };

export function podCount(pods: readonly Pod[], wanted: number, isLive: boolean): PodCount {
  const total = pods.length;
  const ready = pods.filter(isPodReady).length;
  const complete = wanted === 0 || (total === wanted && ready === total);
  return { wanted, total, ready, allReady: isLive && complete };
}

/** What keeps pods from being ready, and when to look again at those that are only starting. */
export function podTroubles(pods: readonly Pod[], nowMs: number): Pick<PodCount, "trouble" | "troubleInMs"> {
  if (pods.every(isPodReady)) return {};
  const trouble = firstTrouble(pods, nowMs);
  const dueMs = Math.min(...pods.map((pod) => troubleDueMs(pod, nowMs) ?? Number.POSITIVE_INFINITY));
  return {
    ...(trouble === undefined ? {} : { trouble }),
    ...(dueMs === Number.POSITIVE_INFINITY ? {} : { troubleInMs: dueMs - nowMs }),
  };
}

export function replicasOf(statefulSet: StatefulSet): number {
  return statefulSet.spec?.replicas ?? 1;
}

/** A pod that has not started, or has ended, runs no query. Of every other phase nothing is known. */
export function mayRunQueries({ status }: Pod): boolean {
  return status?.phase !== "Pending" && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}
