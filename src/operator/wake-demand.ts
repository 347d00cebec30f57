// Adds the poll that scrapes gateways for demand to the manager when --wake-mode is demand. Otherwise no gateway is
// watched or scraped.
import { type Logger, systemClock } from "@firebolt-operator/kube";
import type { ObjectCache } from "@firebolt-operator/kube/cache";
import { createKubeClient, type KubeClient, type KubeClientOptions } from "@firebolt-operator/kube/client";
import type { Manager } from "@firebolt-operator/kube/controller";
import type { FireboltEngine } from "../api/firebolt-engine/engine.ts";
import type { FireboltInstance } from "../api/firebolt-instance/instance.ts";
import type { V1Pod } from "../api/generated/kubernetes.ts";
import { DemandPoll } from "../engine/auto-stop/demand/demand-poll.ts";
import type { DemandSource } from "../engine/auto-stop/demand/demand-source.ts";
import { DEMAND_AT_ONCE } from "../engine/auto-stop/demand/demand-turns.ts";
import { demandReader, GATEWAY_PODS } from "../engine/auto-stop/demand/gateway-pods.ts";
import type { CacheSpec } from "../engine/cluster/caches.ts";
import { GATEWAY_PORTS } from "../gateway/ports.ts";
import { WAKE_AGENT_CONTAINER } from "../gateway/wake-container.ts";
import type { DemandMetrics } from "../metrics/process-series.ts";
import type { Rendering } from "./options.ts";

export interface DemandPollParts {
  readonly rendering: Rendering;
  readonly engines: ObjectCache<FireboltEngine>;
  readonly instances: ObjectCache<FireboltInstance>;
  readonly createCache: (spec: CacheSpec<V1Pod>) => ObjectCache<V1Pod>;
  readonly client: Pick<KubeClient, "podProxyGet">;
  readonly metrics: DemandMetrics;
  readonly logger: Logger;
}

/** A client for scraping gateways through the API server, with a connection for each concurrent scrape. */
export function createDemandClient(options: Omit<KubeClientOptions, "maxSockets">): KubeClient {
  return createKubeClient({ ...options, maxSockets: DEMAND_AT_ONCE });
}

/** Undefined: agents write wake requests themselves, or there are none. */
export function addDemandPoll(manager: Manager, parts: DemandPollParts): DemandSource | undefined {
  const { rendering, engines, instances, createCache, client, metrics, logger } = parts;
  if (rendering.wakeMode !== "demand" || rendering.wakeAgent === undefined) return undefined;
  const agent = { container: WAKE_AGENT_CONTAINER, port: GATEWAY_PORTS.wakeDemand };
  const poll = new DemandPoll({
    engines,
    instances,
    gateways: createCache(GATEWAY_PODS),
    agent,
    read: demandReader(client, agent),
    clock: systemClock,
    logger: logger.with({ logger: "wake-demand" }),
    onScrapeFailed: (namespace) => metrics.scrapeFailed(namespace),
  });
  manager.add(poll);
  return poll;
}
