// What a gateway listens on: client traffic, and the statistics together with the kubelet's probes.
import { ACCESS_LOG_FORMAT } from "./access-log.ts";
import { BUFFER_LIMIT_BYTES, CLUSTER_NAME, extension, socketAddress, TCP_KEEPALIVE } from "./envoy-types.ts";
import { EXEMPT_FROM_OVERLOAD } from "./overload.ts";
import { renderEngineRoutes } from "./route.ts";
import { ROUTING_LUA } from "./routing-lua.ts";
import { WAKE_LUA } from "./wake-lua.ts";

export const HEALTH_PATH = "/healthz";
export const STATS_PATH = "/stats/prometheus";

/** Where a listener is bound. */
interface Bind {
  readonly address: string;
  readonly port: number;
}

/**
 * How long Envoy waits for a client to take an answer on a connection that ends with it. With Envoy's default of 1 s a gateway that is short
 * of processor time ends connections before it has written the answer.
 */
const DELAYED_CLOSE_TIMEOUT = "5s";

/** Longer than the longest hold: a held request is a silent stream. It equals Envoy's default, which may change. */
const STREAM_IDLE_TIMEOUT = "300s";

/**
 * How long a request may take to come in whole, body included; a query that runs is past it. The only timer of a client that stops in the
 * middle of its request: without it, its query holds one of the engine's places for ever.
 */
const REQUEST_TIMEOUT = "300s";
const REQUEST_HEADERS_TIMEOUT = "60s";

/**
 * Callers are strangers, wherever they come from: what Envoy would believe of a trusted proxy (addresses, request ids, its own headers for
 * retries and timeouts) is taken from the connection or made here.
 */
const TRUST_NO_CALLER = {
  use_remote_address: true,
  // An address that no connection comes from. An empty list would not do: to Envoy it means every private address, so every pod.
  internal_address_config: { cidr_ranges: [{ address_prefix: "255.255.255.255", prefix_len: 32 }] },
} as const;

interface ClientTraffic {
  readonly namespace: string;
  readonly wake: boolean;
}

export function renderClientListener(bind: Bind, { namespace, wake }: ClientTraffic) {
  return {
    name: "listener",
    address: socketAddress(bind.address, bind.port),
    per_connection_buffer_limit_bytes: BUFFER_LIMIT_BYTES,
    tcp_keepalive: TCP_KEEPALIVE,
    filter_chains: [
      connectionManager({
        stat_prefix: "gateway",
        ...TRUST_NO_CALLER,
        request_timeout: REQUEST_TIMEOUT,
        request_headers_timeout: REQUEST_HEADERS_TIMEOUT,
        delayed_close_timeout: DELAYED_CLOSE_TIMEOUT,
        access_log: [
          {
            name: "envoy.access_loggers.stdout",
            typed_config: extension("access_loggers.stream.v3.StdoutAccessLog", {
              log_format: { text_format_source: { inline_string: ACCESS_LOG_FORMAT } },
            }),
          },
        ],
        ...(wake ? { stream_idle_timeout: STREAM_IDLE_TIMEOUT } : {}),
        route_config: renderEngineRoutes(namespace, { wake }),
        http_filters: [
          healthFilter(),
          luaFilter(wake ? [ROUTING_LUA, WAKE_LUA] : [ROUTING_LUA]),
          forwardProxyFilter(),
          routerFilter(),
        ],
      }),
    ],
  };
}

export function renderStatsListener(bind: Bind) {
  return {
    name: "stats_listener",
    address: socketAddress(bind.address, bind.port),
    ...EXEMPT_FROM_OVERLOAD,
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

export function connectionManager(fields: object) {
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
export function luaFilter(scripts: readonly string[]) {
  return {
    name: "envoy.filters.http.lua",
    typed_config: extension("filters.http.lua.v3.Lua", {
      default_source_code: { inline_string: scripts.join("\n") },
    }),
  };
}

/** Without a DNS cache of its own: that would pin an engine to one pod. */
export function forwardProxyFilter() {
  return {
    name: "envoy.filters.http.dynamic_forward_proxy",
    typed_config: extension("filters.http.dynamic_forward_proxy.v3.FilterConfig", {
      sub_cluster_config: { cluster_init_timeout: "5s" },
    }),
  };
}

export function routerFilter() {
  return { name: "envoy.filters.http.router", typed_config: extension("filters.http.router.v3.Router", {}) };
}
