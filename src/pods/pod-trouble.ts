// Why a pod is not ready, and the next step: read from the pod's status alone, so that the conditions of the operator and the tree of
// the plugin say the same. Pure. A cause is stable: it contains no counter and no time, and reads the same through all the states
// that one fault passes through (a crash loop is waiting, then running, then terminated), because every change of it is a status
// write. What healthy pods pass through as well is a cause only once it has lasted.

import type { V1Pod } from "../api/generated/kubernetes.ts";
import type { DeepReadonly } from "../api/values/deep-readonly.ts";
import { plainText } from "../api/values/plain-text.ts";
import { containerTrouble } from "./container-trouble.ts";
import { type Lasting, ms, transitionMs } from "./lasting.ts";
import { lastWords } from "./stable-text.ts";
import { unschedulable } from "./unschedulable.ts";

export type Pod = DeepReadonly<V1Pod>;

export interface PodTrouble {
  /** A clause to follow `pod NAME: `. */
  readonly cause: string;
  /** What a person can do about it. */
  readonly next: string;
  /** The container runs, or ran and exited by itself: its log may name the cause. */
  readonly hasRun?: true;
  /** The container that ran. */
  readonly container?: string;
}

export interface TroubledPod extends PodTrouble {
  readonly pod: string;
}

const SCHEDULING_GRACE_MS = 3_000;
const VOLUMES_GRACE_MS = 30_000;
const NODE_GRACE_MS = 10_000;
/** An event holds 1 KiB: cause and next step fit in it. */
const CAUSE_LIMIT = 600;
/** Longer than any reason that Kubernetes knows. */
const REASON_LIMIT = 64;

export function isPodReady({ metadata, status }: Pod): boolean {
  const ready = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
  return status?.phase === "Running" && ready && metadata?.deletionTimestamp === undefined;
}

/** Undefined for a pod that is ready, that is being deleted, or that is only starting. */
export function podTrouble(pod: Pod, nowMs: number): PodTrouble | undefined {
  const found = lastingTrouble(pod);
  if (found === undefined || found.dueMs > nowMs) return undefined;
  // Whatever a status holds besides messages (reasons, names, images) is text of others as well.
  return {
    cause: plainText(found.cause, CAUSE_LIMIT),
    next: plainText(found.next, CAUSE_LIMIT),
    ...(found.hasRun === true ? { hasRun: true } : {}),
    ...(found.container === undefined ? {} : { container: found.container }),
  };
}

/** When a pod that only starts will be in trouble if nothing changes: the time to look again. */
export function troubleDueMs(pod: Pod, nowMs: number): number | undefined {
  const found = lastingTrouble(pod);
  return found === undefined || found.dueMs <= nowMs ? undefined : found.dueMs;
}

/** Of several pods the first by name, so that the choice does not move with the order of a list. */
export function firstTrouble(pods: readonly Pod[], nowMs: number): TroubledPod | undefined {
  const troubled = pods.flatMap((pod) => {
    const trouble = podTrouble(pod, nowMs);
    return trouble === undefined ? [] : [{ pod: pod.metadata?.name ?? "", ...trouble }];
  });
  return troubled.sort((a, b) => a.pod.localeCompare(b.pod, "en", { numeric: true }))[0];
}

/** `pod NAME: CAUSE`, as conditions, events and the status tree write it. */
export function troubleText({ pod, cause }: Pick<TroubledPod, "pod" | "cause">): string {
  return `pod ${pod}: ${cause}`;
}

function lastingTrouble(pod: Pod): Lasting | undefined {
  const { metadata, status } = pod;
  if (isPodReady(pod) || metadata?.deletionTimestamp !== undefined) return undefined;
  return (
    terminalTrouble(pod) ??
    schedulingTrouble(pod) ??
    containerTrouble(pod) ??
    volumesTrouble(pod) ??
    nodeTrouble(pod, status)
  );
}

/** A failed pod: evicted, or rejected by its node. Its controller replaces it. */
function terminalTrouble({ metadata, status }: Pod): Lasting | undefined {
  if (status?.phase !== "Failed" || status.reason === undefined) return undefined;
  const words = lastWords(status.message ?? "");
  return {
    cause: `failed (${plainText(status.reason, REASON_LIMIT)})${words === "" ? "" : `: ${words}`}`,
    next: `free the resource that the node lacks, or delete the pod: ${command("delete pod", metadata)}`,
    dueMs: 0,
  };
}

function schedulingTrouble(pod: Pod): Lasting | undefined {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status !== "False") return undefined;
  const dueMs = ms(scheduled.lastTransitionTime) + SCHEDULING_GRACE_MS;
  return { ...unschedulable(scheduled.message ?? scheduled.reason ?? ""), dueMs };
}

/** Without volumes and a network no container starts, and the pod's status does not say which of them is missing. */
function volumesTrouble(pod: Pod): Lasting | undefined {
  const { metadata, status } = pod;
  const sandbox = status?.conditions?.find(({ type }) => type === "PodReadyToStartContainers");
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (sandbox?.status !== "False" || scheduled?.status !== "True") return undefined;
  return {
    cause: "its volumes or its network cannot be set up: no container has started",
    next: `see which volume, Secret or ConfigMap is missing: ${command("describe pod", metadata)}`,
    dueMs: ms(scheduled.lastTransitionTime) + VOLUMES_GRACE_MS,
  };
}

/** The kubelet last reported containers that are ready: it was the node controller that took readiness away. */
function nodeTrouble(pod: Pod, status: Pod["status"]): Lasting | undefined {
  const containers = status?.containerStatuses ?? [];
  if (containers.length === 0 || !containers.every(({ ready }) => ready)) return undefined;
  return {
    cause: "its containers are ready but the pod is not: its node does not respond, or a readiness gate is closed",
    next: `check the pod's node: ${command("describe pod", pod.metadata)}`,
    dueMs: transitionMs(pod, "Ready") + NODE_GRACE_MS,
  };
}

function command(verb: string, metadata: Pod["metadata"]): string {
  return `kubectl ${verb} ${metadata?.name ?? ""} -n ${metadata?.namespace ?? ""}`;
}
