// The complete Envoy configuration of a gateway, as data. A pure function of the FireboltInstance: it depends on no
// engine, clock or cluster state, because otherwise an engine event would roll the gateway.
import type { AccessLogMode } from "./access-log.ts";
import { renderAdminCluster, renderEngineCluster } from "./clusters.ts";
import { extension, socketAddress } from "./envoy-types.ts";
import type { EngineSelection } from "./host-names.ts";
import { renderClientListener, renderStatsListener } from "./listeners.ts";
import { renderOverloadManager } from "./overload.ts";
import { type GatewayPlacement, POD_PLACEMENT, type SocketEndpoint } from "./placement.ts";
import { GATEWAY_PORTS, resolveMetricsPort } from "./ports.ts";
import { renderDiscovery, renderDiscoveryCluster, renderProbeListener, renderWakeAgentCluster } from "./wake.ts";

/** The inputs from an instance. */
export interface GatewayConfigInput {
  readonly namespace: string;
  /** `spec.gateway.metricsPort`. */
  readonly metricsPort?: number | undefined;
  /** Further ways to name the engine of a query; absent: header and parameter alone. */
  readonly selection?: EngineSelection | undefined;
  /** Hold queries for stopped engines; a wake agent runs beside the gateway. */
  readonly wake?: boolean | undefined;
  /** The memory limit of the container `envoy`, when it has one. */
  readonly memoryLimitBytes?: number | undefined;
  /** Default: every request. */
  readonly accessLog?: AccessLogMode | undefined;
}

/**
 * The bootstrap of one Envoy process. The operator renders it for a pod; other placements are for running it elsewhere.
 */
export function renderGatewayConfig(input: GatewayConfigInput, placement: GatewayPlacement = POD_PLACEMENT) {
  const { address, clientPort, adminPort, dnsResolvers } = placement;
  const { wakeHoldPort = GATEWAY_PORTS.wakeHold, wakeProbePort = GATEWAY_PORTS.wakeProbe } = placement;
  const { wakeDiscoveryPort = GATEWAY_PORTS.wakeDiscovery } = placement;
  const { namespace, wake = false, memoryLimitBytes, accessLog = "all", selection } = input;
  return {
    // The preStop hook and the wake agent use it: an overloaded gateway must still be able to shut down.
    admin: { address: socketAddress("127.0.0.1", adminPort), ignore_global_conn_limit: true },
    // A layer that the admin interface can write: without one, the keys that the wake agent sets have no effect.
    ...(wake ? { layered_runtime: { layers: [{ name: "admin", admin_layer: {} }] }, ...renderDiscovery() } : {}),
    typed_dns_resolver_config: renderDnsResolver(dnsResolvers),
    overload_manager: renderOverloadManager(memoryLimitBytes),
    static_resources: {
      listeners: [
        renderClientListener({ address, port: clientPort }, { namespace, wake, accessLog, selection }),
        renderStatsListener({ address, port: resolveMetricsPort(input.metricsPort) }),
        ...(wake ? [renderProbeListener(wakeProbePort, namespace)] : []),
      ],
      clusters: [
        renderEngineCluster(memoryLimitBytes),
        renderAdminCluster(adminPort),
        ...(wake ? [renderWakeAgentCluster(wakeHoldPort), renderDiscoveryCluster(wakeDiscoveryPort)] : []),
      ],
    },
  };
}

export type GatewayConfig = ReturnType<typeof renderGatewayConfig>;

/**
 * Names of engines are complete, so the pod's search list must not be tried: its entries come before the name itself
 * (ndots:5), and the owner of a wildcard in a domain of the node would get the queries. Without resolvers the addresses
 * come from resolv.conf.
 */
function renderDnsResolver(resolvers: readonly SocketEndpoint[] | undefined) {
  return {
    name: "envoy.network.dns_resolver.cares",
    typed_config: extension("network.dns_resolver.cares.v3.CaresDnsResolverConfig", {
      ...(resolvers === undefined
        ? {}
        : { resolvers: resolvers.map(({ address, port }) => socketAddress(address, port)) }),
      dns_resolver_options: { no_default_search_domain: true },
    }),
  };
}
