// The pods of gateways: which ones they are, what is kept of them, and how an endpoint of their agent is read (demand,
// discovery). Does not interpret the response.
import type { DeepReadonly } from "@firebolt-operator/kube";
import type { KubeClient } from "@firebolt-operator/kube/client";
import type { MetricScrapeMode } from "../../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../../api/generated/kubernetes.ts";
import { LABEL } from "../../api/labels.ts";
import type { WAKE_PATHS } from "../../api/wake-protocol.ts";
import type { CacheSpec } from "../cluster/caches.ts";
import { pods } from "../cluster/kinds.ts";
import type { ScrapeResponse } from "../cluster/pod-scrape.ts";
import { type ScrapeLimits, scrapePod } from "../cluster/pod-scrape.ts";

/** What the operator and the gateways' pods have agreed on. */
export interface AgentAddress {
  readonly container: string;
  readonly port: number;
}

/** Shorter than for metrics: what has not arrived in three seconds is requested again by then. */
const GATEWAY_LIMITS: ScrapeLimits = {
  connectMs: 2_000,
  firstByteMs: 2_000,
  totalMs: 3_000,
  bytes: 1_048_576,
};

export const GATEWAY_PODS: CacheSpec<V1Pod> = {
  type: pods,
  labelSelector: `${LABEL.component}=gateway`,
  trim: trimGatewayPod,
};

export type GatewayPod = DeepReadonly<V1Pod>;

/** A gateway under an account of the user's has no agent, nor has one from before there was any. */
export function hasAgent({ spec }: GatewayPod, { container }: AgentAddress): boolean {
  return spec?.containers.some(({ name }) => name === container) ?? false;
}

export type ReadGateway = (pod: GatewayPod, mode: MetricScrapeMode, signal: AbortSignal) => Promise<ScrapeResponse>;

/** The same ways as to an engine's metrics. */
export function gatewayReader(
  client: Pick<KubeClient, "podProxyGet">,
  { port }: AgentAddress,
  path: (typeof WAKE_PATHS)["demand" | "discovery"],
): ReadGateway {
  return ({ metadata, status }, mode, signal) => {
    if (mode === "PodIP") {
      const host = status?.podIP ?? "";
      if (host === "") return Promise.reject(new Error("the pod has no IP"));
      return scrapePod({ host, port, path }, signal, GATEWAY_LIMITS);
    }
    const { namespace = "", name: pod = "" } = metadata ?? {};
    const limits = { timeoutMs: GATEWAY_LIMITS.totalMs, maxBytes: GATEWAY_LIMITS.bytes };
    return client.podProxyGet({ ...limits, signal, namespace, pod, port, path });
  };
}

function trimGatewayPod({ metadata = {}, spec, status = {}, ...rest }: V1Pod): V1Pod {
  const { annotations: _, finalizers: __, generateName: ___, ownerReferences: ____, ...identity } = metadata;
  const { phase, podIP } = status;
  return {
    ...rest,
    metadata: identity,
    spec: { containers: (spec?.containers ?? []).map(({ name }) => ({ name })) },
    status: { ...(phase === undefined ? {} : { phase }), ...(podIP === undefined ? {} : { podIP }) },
  };
}
