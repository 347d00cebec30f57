// Changes to a rendered gateway configuration that bring about in seconds what takes minutes, or with ten clients what takes a thousand.
// Only numbers change: what is not rendered cannot be adjusted.
import type { GatewayConfig } from "../../src/gateway/gateway-config.ts";

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
    if ("circuit_breakers" in cluster)
      for (const threshold of cluster.circuit_breakers.thresholds) change(threshold, limits);
}
