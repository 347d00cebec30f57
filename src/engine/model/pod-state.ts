// The state of a generation's pods: how many there are, how many are ready, and which of them may run queries.
// Pure.
import { firstTrouble, isPodReady, troubleDueMs } from "../../pods/pod-trouble.ts";
import type { Pod, StatefulSet } from "./children.ts";
import { ENGINE_CONTAINER } from "./pod-contract.ts";
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

/**
 * Whether a pod of a generation that queries are routed away from may run one. A query runs in the engine's process,
 * and reaches only a process that has been ready: one that is not running, or was never ready since its start, has
 * none. That proves nothing about a process that was ready and is not any more, and nothing by the pod's number: an
 * extra pod that became ready has served.
 */
export function mayDrain(pod: Pod): boolean {
  const engine = pod.status?.containerStatuses?.find(({ name }) => name === ENGINE_CONTAINER);
  if (!mayRunQueries(pod) || engine === undefined || engine.ready || isPodReady(pod)) return mayRunQueries(pod);
  const isDown = engine.state?.waiting !== undefined || engine.state?.terminated !== undefined;
  return !isDown && (engine.started !== false || !wasUnreadySince(pod, engine.state?.running?.startedAt));
}

/**
 * Whether the pod has been unready since before that moment. `started: false` alone does not prove that: a kubelet that
 * restarts reports every container as not started until its probe has succeeded again, while it keeps serving. Times
 * have whole seconds, so equal ones prove nothing.
 */
function wasUnreadySince({ status }: Pod, startedAt: string | undefined): boolean {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "False" && Date.parse(ready.lastTransitionTime ?? "") < Date.parse(startedAt ?? "");
}
