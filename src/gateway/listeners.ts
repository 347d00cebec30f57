// What a gateway listens on: client traffic, and the statistics together with the kubelet's probes.
import { ACCESS_LOG_FORMAT } from "./access-log.ts";
import { BUFFER_LIMIT_BYTES, CLUSTER_NAME, extension, socketAddress } from "./envoy-types.ts";
import { renderEngineRoutes } from "./route.ts";
import { ROUTING_LUA } from "./routing-lua.ts";

export const HEALTH_PATH = "/healthz";
export const STATS_PATH = "/stats/prometheus";

/** Where a listener is bound. */
interface Bind {
  readonly address: string;
  readonly port: number;
}

export function renderClientListener(bind: Bind, namespace: string) {
  return {
    name: "listener",
    address: socketAddress(bind.address, bind.port),
    per_connection_buffer_limit_bytes: BUFFER_LIMIT_BYTES,
    filter_chains: [
      connectionManager({
        stat_prefix: "gateway",
        access_log: [
          {
            name: "envoy.access_loggers.stdout",
            typed_config: extension("access_loggers.stream.v3.StdoutAccessLog", {
              log_format: { text_format_source: { inline_string: ACCESS_LOG_FORMAT } },
            }),
          },
        ],
        route_config: renderEngineRoutes(namespace),
        http_filters: [healthFilter(), luaFilter([ROUTING_LUA]), forwardProxyFilter(), routerFilter()],
      }),
    ],
  };
}

export function renderStatsListener(bind: Bind) {
  return {
    name: "stats_listener",
    address: socketAddress(bind.address, bind.port),
    filter_chains: [
      connectionManager({
        stat_prefix: "stats",
        // A path with ".." must not lead to another page of the administration.
        normalize_path: true,
        route_config: {
          name: "stats",
          virtual_hosts: [
            {
              name: "stats",
              domains: ["*"],
              routes: [{ match: { prefix: STATS_PATH }, route: { cluster: CLUSTER_NAME.admin } }],
            },
          ],
        },
        http_filters: [healthFilter(), routerFilter()],
      }),
    ],
  };
}

function connectionManager(fields: object) {
  return {
    filters: [
      {
        name: "envoy.filters.network.http_connection_manager",
        typed_config: extension("filters.network.http_connection_manager.v3.HttpConnectionManager", fields),
      },
    ],
  };
}

/** Answers the probes by itself, before anything looks at the request; 503 once the gateway has been told to drain. */
function healthFilter() {
  return {
    name: "envoy.filters.http.health_check",
    typed_config: extension("filters.http.health_check.v3.HealthCheck", {
      pass_through_mode: false,
      headers: [{ name: ":path", string_match: { exact: HEALTH_PATH } }],
    }),
  };
}

/** One filter for all scripts: a later script may wrap the request hook that an earlier one defines. */
function luaFilter(scripts: readonly string[]) {
  return {
    name: "envoy.filters.http.lua",
    typed_config: extension("filters.http.lua.v3.Lua", {
      default_source_code: { inline_string: scripts.join("\n") },
    }),
  };
}

/** Without a DNS cache of its own: that would pin an engine to one pod. */
function forwardProxyFilter() {
  return {
    name: "envoy.filters.http.dynamic_forward_proxy",
    typed_config: extension("filters.http.dynamic_forward_proxy.v3.FilterConfig", {
      sub_cluster_config: { cluster_init_timeout: "5s" },
    }),
  };
}

function routerFilter() {
  return { name: "envoy.filters.http.router", typed_config: extension("filters.http.router.v3.Router", {}) };
}
