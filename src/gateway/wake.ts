// What a gateway that holds queries for stopped engines has in addition: the cluster of its wake agent, and a listener
// through which the agent probes whether an engine can be reached. Both are on loopback; without the option neither is
// rendered.
import { CLUSTER_NAME, CONNECT_TIMEOUT, extension, socketAddress } from "./envoy-types.ts";
import { connectionManager, forwardProxyFilter, luaFilter, routerFilter } from "./listeners.ts";
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
    name: CLUSTER_NAME.wakeAgent,
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
      cluster_name: CLUSTER_NAME.wakeAgent,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress("127.0.0.1", port) } }] }],
    },
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
        route_config: renderEngineRoutes(namespace, { forwarding: { timeout: "1s" } }),
        http_filters: [luaFilter([ROUTING_LUA]), forwardProxyFilter(), routerFilter()],
      }),
    ],
  };
}
