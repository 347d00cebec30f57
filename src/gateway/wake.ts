// What a gateway that holds queries for stopped engines has in addition: the cluster of its wake agent, and a listener
// through which the agent probes whether an engine can be reached. Both are on loopback; without the option neither is
// rendered.
import { STATIC_CLUSTERS } from "../api/wake-protocol.ts";
import { CONNECT_TIMEOUT, extension, socketAddress } from "./envoy-types.ts";
import { connectionManager, forwardProxyFilter, luaFilter, NO_CLUSTER_OF_CALLERS, routerFilter } from "./listeners.ts";
import { EXEMPT_FROM_OVERLOAD } from "./overload.ts";
import { renderEngineRoutes } from "./route.ts";
import { ROUTING_LUA } from "./routing-lua.ts";

/**
 * Every held query is one request. Envoy's own limit of 1024 would let the next ones pass unheld; the agent has a limit
 * of its own.
 */
const UNLIMITED = 1_000_000;

export function renderWakeAgentCluster(port: number) {
  return {
    name: STATIC_CLUSTERS.wakeAgent,
    type: "STATIC",
    connect_timeout: CONNECT_TIMEOUT,
    circuit_breakers: {
      thresholds: [
        {
          priority: "DEFAULT",
          max_connections: UNLIMITED,
          max_pending_requests: UNLIMITED,
          max_requests: UNLIMITED,
        },
      ],
    },
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": extension("upstreams.http.v3.HttpProtocolOptions", {
        // Shorter than the agent's idle timeout, so that a connection is never reused while the agent closes it.
        common_http_protocol_options: { idle_timeout: "30s" },
        explicit_http_config: { http_protocol_options: {} },
      }),
    },
    load_assignment: {
      cluster_name: STATIC_CLUSTERS.wakeAgent,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress("127.0.0.1", port) } }] }],
    },
  };
}

/** How long Envoy may start without the agent: it then serves queries by name. */
const FIRST_FETCH_TIMEOUT = "5s";
/** Until Envoy tries again to reach an agent that was restarted. */
const DISCOVERY_BACK_OFF = { base_interval: "0.1s", max_interval: "1s" } as const;
/** A stream whose agent hangs is given up. */
const DISCOVERY_KEEPALIVE = { interval: "10s", timeout: "5s" } as const;

/** The agent's discovery stream: gRPC, on loopback. */
export function renderDiscoveryCluster(port: number) {
  return {
    name: STATIC_CLUSTERS.discovery,
    type: "STATIC",
    connect_timeout: CONNECT_TIMEOUT,
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": extension("upstreams.http.v3.HttpProtocolOptions", {
        explicit_http_config: { http2_protocol_options: { connection_keepalive: DISCOVERY_KEEPALIVE } },
      }),
    },
    load_assignment: {
      cluster_name: STATIC_CLUSTERS.discovery,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress("127.0.0.1", port) } }] }],
    },
  };
}

/**
 * Engines as clusters of their own, from the agent. Statistics and connection pools are created with the first query:
 * a fleet has many engines that are hardly used.
 */
export function renderDiscovery() {
  const service = {
    envoy_grpc: { cluster_name: STATIC_CLUSTERS.discovery, retry_policy: { retry_back_off: DISCOVERY_BACK_OFF } },
  };
  return {
    // Discovery requires both; nothing depends on them.
    node: { id: "gateway", cluster: "gateway" },
    dynamic_resources: {
      ads_config: { api_type: "DELTA_GRPC", transport_api_version: "V3", grpc_services: [service] },
      cds_config: { ads: {}, resource_api_version: "V3", initial_fetch_timeout: FIRST_FETCH_TIMEOUT },
    },
    cluster_manager: { enable_deferred_cluster_creation: true },
    deferred_stat_options: { enable_deferred_creation_stats: true },
  };
}

/**
 * An engine that Kubernetes reports as ready may still be unknown to Envoy: addresses come from DNS, which is queried
 * every two seconds and may cache that there was none. The agent probes here, on the same clusters, until Envoy reaches
 * the engine.
 */
export function renderProbeListener(port: number, namespace: string) {
  return {
    name: "wake_probe",
    address: socketAddress("127.0.0.1", port),
    ...EXEMPT_FROM_OVERLOAD,
    filter_chains: [
      connectionManager({
        stat_prefix: "wake_probe",
        ...NO_CLUSTER_OF_CALLERS,
        route_config: renderEngineRoutes(namespace, { forwarding: { timeout: "1s" } }),
        http_filters: [luaFilter([ROUTING_LUA]), forwardProxyFilter(), routerFilter()],
      }),
    ],
  };
}
