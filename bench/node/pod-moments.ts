// What a pod has reached, from its status. Pure.
import type { DeepReadonly } from "@firebolt-operator/kube";
import type { V1Pod } from "../../src/api/generated/kubernetes.ts";

export type PodMoment = "created" | "scheduled" | "running" | "ready";

export function podMoments(pod: DeepReadonly<V1Pod>): readonly PodMoment[] {
  const containers = pod.status?.containerStatuses ?? [];
  return [
    "created",
    ...(pod.spec?.nodeName === undefined ? [] : (["scheduled"] as const)),
    ...(containers.length > 0 && containers.every(({ state }) => state?.running !== undefined)
      ? (["running"] as const)
      : []),
    ...(isReady(pod) ? (["ready"] as const) : []),
  ];
}

export const isReady = ({ status }: Pick<DeepReadonly<V1Pod>, "status">): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
