// Changes to a rendered gateway configuration that bring about in seconds what takes minutes, or with ten clients what takes a thousand.
// Only numbers change, or the routing script gets a defect: what is not rendered cannot be adjusted.
import { STATIC_CLUSTERS } from "../../../src/api/wake-protocol.ts";
import type { GatewayConfig } from "../../../src/gateway/gateway-config.ts";

/** The connection manager of the client listener. */
export function clientConnectionManager(config: GatewayConfig): object {
  const [client] = config.static_resources.listeners;
  const manager = client?.filter_chains[0]?.filters[0]?.typed_config;
  if (manager === undefined) throw new Error("the configuration has no client listener");
  return manager;
}

/** Sets a field that the configuration has; one that it lacks is an error, so that no test brings its own remedy. */
export function change<T extends object>(where: T, values: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(values)) {
    if (!(field in where)) throw new Error(`the configuration has no ${field} here`);
    Object.assign(where, { [field]: value });
  }
}

/** The limits of every engine. */
export function limitEngines(config: GatewayConfig, limits: Readonly<Record<string, number>>): void {
  for (const cluster of config.static_resources.clusters)
    if (cluster.name === STATIC_CLUSTERS.engines && "circuit_breakers" in cluster)
      for (const threshold of cluster.circuit_breakers.thresholds) change(threshold, limits);
}

/** The limits of every engine, all made smaller by the same factor: what they are to each other stays as it is rendered. */
export function shrinkEngines(config: GatewayConfig, divisor: number): void {
  for (const cluster of config.static_resources.clusters)
    if (cluster.name === STATIC_CLUSTERS.engines && "circuit_breakers" in cluster)
      for (const threshold of cluster.circuit_breakers.thresholds)
        change(threshold, {
          max_connections: threshold.max_connections / divisor,
          max_pending_requests: threshold.max_pending_requests / divisor,
          max_requests: threshold.max_requests / divisor,
        });
}

const ROUTE = "local function route(handle, headers)";

/** Every request raises an error in the routing script. */
export function breakRouting(config: GatewayConfig): void {
  const manager = clientConnectionManager(config);
  const filters = "http_filters" in manager ? JSON.stringify(manager.http_filters) : "";
  if (!filters.includes(ROUTE)) throw new Error(`the routing script has no ${ROUTE}`);
  change(manager, { http_filters: JSON.parse(filters.replaceAll(ROUTE, `${ROUTE} error('a defect')`)) });
}
