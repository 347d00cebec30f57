// Adds what is read from gateways to the manager: the poll for demand when --wake-mode is demand, and the reports of the
// endpoints that they use, which are read while an old generation drains.
import { type Logger, systemClock } from "@firebolt-operator/kube";
import type { ObjectCache } from "@firebolt-operator/kube/cache";
import { createKubeClient, type KubeClient, type KubeClientOptions } from "@firebolt-operator/kube/client";
import type { Manager } from "@firebolt-operator/kube/controller";
import type { FireboltEngine } from "../api/firebolt-engine/engine.ts";
import type { FireboltInstance } from "../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../api/generated/kubernetes.ts";
import { WAKE_PATHS } from "../api/wake-protocol.ts";
import type { CacheSpec } from "../engine/cluster/caches.ts";
import { DemandPoll } from "../engine/demand/demand-poll.ts";
import type { DemandSource } from "../engine/demand/demand-source.ts";
import { DEMAND_AT_ONCE } from "../engine/demand/demand-turns.ts";
import { GATEWAY_PODS, gatewayReader } from "../engine/gateways/gateway-pods.ts";
import { GatewayReports } from "../engine/gateways/gateway-reports.ts";
import { DISCOVERED_SETTLE_MS } from "../engine/pass/observe-drain.ts";
import { GATEWAY_PORTS } from "../gateway/ports.ts";
import { WAKE_AGENT_CONTAINER } from "../gateway/wake-container.ts";
import type { DemandMetrics } from "../metrics/process-series.ts";
import { leaderSignal } from "./leader-signal.ts";
import type { Rendering } from "./options.ts";

export interface GatewaySourceParts {
  readonly rendering: Rendering;
  readonly drainSettleMs: number;
  readonly engines: ObjectCache<FireboltEngine>;
  readonly instances: ObjectCache<FireboltInstance>;
  readonly createCache: (spec: CacheSpec<V1Pod>) => ObjectCache<V1Pod>;
  readonly client: Pick<KubeClient, "podProxyGet">;
  readonly metrics: DemandMetrics;
  readonly logger: Logger;
}

/** A client for scraping gateways through the API server, with a connection for each concurrent scrape. */
export function createGatewayClient(options: Omit<KubeClientOptions, "maxSockets">): KubeClient {
  return createKubeClient({ ...options, maxSockets: DEMAND_AT_ONCE });
}

const agent = { container: WAKE_AGENT_CONTAINER, port: GATEWAY_PORTS.wakeDemand };

/** What gateways report. Either is undefined where it is not read: then no gateway is watched for it. */
export interface GatewaySources {
  readonly demand: DemandSource | undefined;
  readonly reports: GatewayReports | undefined;
}

/** One watch of gateways for both. Without wake agents there is none; nothing waits for gateways without a settle time. */
export function addGatewaySources(manager: Manager, parts: GatewaySourceParts): GatewaySources {
  const { rendering, drainSettleMs, createCache } = parts;
  const hasDemand = rendering.wakeMode === "demand";
  const hasReports = drainSettleMs > DISCOVERED_SETTLE_MS;
  if (rendering.wakeAgent === undefined || !(hasDemand || hasReports)) return { demand: undefined, reports: undefined };
  const gateways = createCache(GATEWAY_PODS);
  return {
    demand: hasDemand ? addDemandPoll(manager, parts, gateways) : undefined,
    reports: hasReports ? addGatewayReports(manager, parts, gateways) : undefined,
  };
}

function addGatewayReports(manager: Manager, parts: GatewaySourceParts, gateways: ObjectCache<V1Pod>): GatewayReports {
  return new GatewayReports({
    gateways,
    instances: parts.instances,
    agent,
    read: gatewayReader(parts.client, agent, WAKE_PATHS.discovery),
    clock: systemClock,
    logger: parts.logger.with({ logger: "gateway-reports" }),
    signal: leaderSignal(manager, "gateway-reports"),
  });
}

function addDemandPoll(manager: Manager, parts: GatewaySourceParts, gateways: ObjectCache<V1Pod>): DemandSource {
  const { engines, instances, client, metrics, logger } = parts;
  const poll = new DemandPoll({
    engines,
    instances,
    gateways,
    agent,
    read: gatewayReader(client, agent, WAKE_PATHS.demand),
    clock: systemClock,
    logger: logger.with({ logger: "wake-demand" }),
    onScrapeFailed: (namespace) => metrics.scrapeFailed(namespace),
  });
  manager.add(poll);
  return poll;
}
