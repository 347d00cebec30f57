// The complete Envoy configuration of a gateway, as data. A pure function of the FireboltInstance: no engine, no clock and no
// cluster state may reach it, or an engine event would roll the gateway.
import { renderAdminCluster, renderEngineCluster } from "./clusters.ts";
import { extension, socketAddress } from "./envoy-types.ts";
import { renderClientListener, renderStatsListener } from "./listeners.ts";
import { type GatewayPlacement, POD_PLACEMENT, type SocketEndpoint } from "./placement.ts";
import { resolveMetricsPort } from "./ports.ts";

/** Everything of an instance that the configuration depends on. */
export interface GatewayConfigInput {
  readonly namespace: string;
  /** `spec.gateway.metricsPort`. */
  readonly metricsPort?: number | undefined;
}

/** The bootstrap of one Envoy process. The operator renders it for a pod; other placements are for running it elsewhere. */
export function renderGatewayConfig(input: GatewayConfigInput, placement: GatewayPlacement = POD_PLACEMENT) {
  const { address, clientPort, adminPort, dnsResolvers } = placement;
  return {
    admin: { address: socketAddress("127.0.0.1", adminPort) },
    ...(dnsResolvers === undefined ? {} : { typed_dns_resolver_config: renderDnsResolver(dnsResolvers) }),
    static_resources: {
      listeners: [
        renderClientListener({ address, port: clientPort }, input.namespace),
        renderStatsListener({ address, port: resolveMetricsPort(input.metricsPort) }),
      ],
      clusters: [renderEngineCluster(), renderAdminCluster(adminPort)],
    },
  };
}

export type GatewayConfig = ReturnType<typeof renderGatewayConfig>;

function renderDnsResolver(resolvers: readonly SocketEndpoint[]) {
  return {
    name: "envoy.network.dns_resolver.cares",
    typed_config: extension("network.dns_resolver.cares.v3.CaresDnsResolverConfig", {
      resolvers: resolvers.map(({ address, port }) => socketAddress(address, port)),
      dns_resolver_options: { no_default_search_domain: true },
    }),
  };
}
