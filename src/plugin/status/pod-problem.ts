// What keeps a pod from being ready, as a sentence: the scheduler's word, the kubelet's word, or nothing better than "not ready".
import type { V1ContainerStatus, V1Pod } from "../../api/generated/kubernetes.ts";
import { nameOf } from "../find-object.ts";

export interface PodProblem {
  readonly type: "unschedulable" | "container" | "notReady";
  readonly text: string;
}

/** States that every pod passes through. */
const PASSING: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);

export function isPodReady({ metadata, status }: V1Pod): boolean {
  const ready = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
  return status?.phase === "Running" && ready && metadata?.deletionTimestamp === undefined;
}

export function podProblem(pod: V1Pod): PodProblem | undefined {
  if (isPodReady(pod)) return undefined;
  const name = nameOf(pod);
  if (pod.metadata?.deletionTimestamp !== undefined) return { type: "notReady", text: `pod ${name} is being deleted` };
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False")
    return {
      type: "unschedulable",
      text: `pod ${name} cannot be scheduled: ${scheduled.message ?? scheduled.reason ?? ""}`,
    };
  const states = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const status of states) {
    const text = containerProblem(status);
    if (text !== undefined) return { type: "container", text: `pod ${name}: container ${status.name}: ${text}` };
  }
  return { type: "notReady", text: `pod ${name} is not ready yet (${pod.status?.phase ?? "no phase"})` };
}

/** The last words of a container that keeps dying say more than that it is being restarted. */
function containerProblem({ state, lastState }: V1ContainerStatus): string | undefined {
  const { waiting, terminated = lastState?.terminated } = state ?? {};
  const ended = terminated !== undefined && terminated.exitCode !== 0 ? terminated : undefined;
  const death =
    ended === undefined ? "" : `ended with ${ended.exitCode}${ended.message ? `: ${ended.message.trim()}` : ""}`;
  if (waiting?.reason !== undefined && !PASSING.has(waiting.reason))
    return [waiting.reason, death || waiting.message || ""].filter((text) => text !== "").join(": ");
  return state?.terminated === undefined || death === "" ? undefined : death;
}
