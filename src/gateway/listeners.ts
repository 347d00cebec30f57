// The listeners of a gateway: client traffic, and the statistics together with the kubelet's probes.
import { STATIC_CLUSTERS, WAKE_CHANGING, WAKE_HEADERS } from "../api/wake-protocol.ts";
import { type AccessLogMode, renderAccessLog } from "./access-log.ts";
import { CLIENT_BUFFER_BYTES, extension, STATS_BUFFER_BYTES, socketAddress, TCP_KEEPALIVE } from "./envoy-types.ts";
import type { EngineSelection } from "./host-names.ts";
import { EXEMPT_FROM_OVERLOAD } from "./overload.ts";
import { LUA_FILTER, renderEngineRoutes } from "./route.ts";
import { ROUTING_LUA } from "./routing-lua.ts";
import { WAKE_LUA } from "./wake-lua.ts";

export const HEALTH_PATH = "/healthz";
export const STATS_PATH = "/stats/prometheus";

/** The address of a listener. */
interface Bind {
  readonly address: string;
  readonly port: number;
}

/**
 * How long Envoy waits for a client to read a response on a connection that closes with it. With Envoy's default of 1 s
 * a gateway that is short of processor time closes connections before it has written the response.
 */
const DELAYED_CLOSE_TIMEOUT = "5s";

/** Longer than the longest hold: a held request is a silent stream. Equal to Envoy's default, which may change. */
const STREAM_IDLE_TIMEOUT = "300s";

/**
 * How long a request may take to arrive, body included; a running query is past it. It is the only timer for a client
 * that stops in the middle of its request: without it, that query counts against the engine's request limit forever.
 */
const REQUEST_TIMEOUT = "300s";
const REQUEST_HEADERS_TIMEOUT = "60s";

/** Envoy's own windows are many MiB: that much a client may send on every stream before Envoy can push back. */
const HTTP2_OPTIONS = {
  max_concurrent_streams: 512,
  initial_stream_window_size: 64 * 1024,
  initial_connection_window_size: 1024 * 1024,
  // A malformed request, such as one with an empty authority, ends its own stream at once. By default it ends the
  // connection, after the delay below, and with it the other queries on it.
  override_stream_error_on_invalid_http_message: true,
} as const;

/**
 * A request that is aborted for memory while it is received: Envoy reports an error of its own (500); new requests get
 * 503.
 */
const OVERLOADED = {
  filter: {
    extension_filter: {
      name: "envoy.access_loggers.extension_filters.cel",
      typed_config: extension("access_loggers.filters.cel.v3.ExpressionFilter", {
        expression: 'response.code_details == "overload"',
      }),
    },
  },
  status_code: 503,
  body: { inline_string: "envoy overloaded" },
} as const;

/**
 * The engine's last address was removed before the wake agent could hold the query: its pods were deleted, not stopped.
 * The query has reached no engine, so the client may send it again; the response is that of a hold that timed out.
 */
const NO_ENDPOINT = {
  filter: { response_flag_filter: { flags: ["UH"] } },
  status_code: 503,
  body: { inline_string: "engine is not available; retry shortly" },
  headers_to_add: [{ header: { key: "retry-after", value: "10" }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" }],
} as const;

/**
 * Connections for statistics and probes. The port is open to every pod and exempt from the overload manager, so it has
 * its own limit: beyond it a connection is closed. Far more than the kubelet and every Prometheus use together.
 */
const MOST_STATS_CONNECTIONS = 256;

/** A scrape and a probe are one small request: a client that takes longer is neither. */
const STATS_TIMERS = {
  request_timeout: "5s",
  request_headers_timeout: "5s",
  // Also for a client that does not read the response.
  stream_idle_timeout: "10s",
  common_http_protocol_options: { idle_timeout: "60s" },
} as const;

/**
 * No client is trusted, wherever it comes from: what Envoy would accept from a trusted proxy (addresses, request ids,
 * its own headers for retries and timeouts) is taken from the connection or set here.
 */
const TRUST_NO_CALLER = {
  use_remote_address: true,
  // An address that no connection comes from. An empty list would not do: to Envoy it means every private address, and
  // so every pod.
  internal_address_config: { cidr_ranges: [{ address_prefix: "255.255.255.255", prefix_len: 32 }] },
} as const;

/**
 * The header by which a request is sent to a cluster is removed before anything else looks at the request: a client
 * that sets it would reach any cluster, and so Envoy's admin interface. Only the scripts set it, later.
 */
export const NO_CLUSTER_OF_CALLERS = {
  early_header_mutation_extensions: [
    {
      name: "envoy.http.early_header_mutation.header_mutation",
      typed_config: extension("http.early_header_mutation.header_mutation.v3.HeaderMutation", {
        mutations: [{ remove: WAKE_HEADERS.cluster }],
      }),
    },
  ],
} as const;

interface ClientTraffic {
  readonly namespace: string;
  readonly wake: boolean;
  readonly accessLog: AccessLogMode;
  readonly selection: EngineSelection | undefined;
}

export function renderClientListener(bind: Bind, { namespace, wake, accessLog, selection }: ClientTraffic) {
  return {
    name: "listener",
    address: socketAddress(bind.address, bind.port),
    per_connection_buffer_limit_bytes: CLIENT_BUFFER_BYTES,
    tcp_keepalive: TCP_KEEPALIVE,
    filter_chains: [
      connectionManager({
        stat_prefix: "gateway",
        ...TRUST_NO_CALLER,
        ...NO_CLUSTER_OF_CALLERS,
        request_timeout: REQUEST_TIMEOUT,
        request_headers_timeout: REQUEST_HEADERS_TIMEOUT,
        delayed_close_timeout: DELAYED_CLOSE_TIMEOUT,
        http2_protocol_options: HTTP2_OPTIONS,
        local_reply_config: { mappers: [OVERLOADED, NO_ENDPOINT] },
        access_log: [renderAccessLog(accessLog)],
        ...(wake ? { stream_idle_timeout: STREAM_IDLE_TIMEOUT } : {}),
        route_config: renderEngineRoutes(namespace, { wake, selection }),
        http_filters: [
          healthFilter(),
          wake ? luaFilter([ROUTING_LUA, WAKE_LUA], WHILE_CHANGING) : luaFilter([ROUTING_LUA]),
          forwardProxyFilter(),
          routerFilter(),
        ],
      }),
    ],
  };
}

export function renderStatsListener(bind: Bind) {
  const { filters } = connectionManager({
    stat_prefix: "stats",
    codec_type: "HTTP1",
    max_request_headers_kb: 8,
    ...STATS_TIMERS,
    // A path with ".." must not lead to another path of the admin interface.
    normalize_path: true,
    route_config: {
      name: "stats",
      virtual_hosts: [{ name: "stats", domains: ["*"], routes: renderStatsRoutes() }],
    },
    http_filters: [healthFilter(), noBodyFilter(), routerFilter()],
  });
  return {
    name: "stats_listener",
    address: socketAddress(bind.address, bind.port),
    per_connection_buffer_limit_bytes: STATS_BUFFER_BYTES,
    ...EXEMPT_FROM_OVERLOAD,
    filter_chains: [{ filters: [connectionLimitFilter(), ...filters] }],
  };
}

const BODY_FILTER = "envoy.filters.http.buffer";

/** Read only: every other method and path of the admin interface, and any body, is rejected here. */
function renderStatsRoutes() {
  return [
    {
      match: {
        path: STATS_PATH,
        headers: [{ name: ":method", string_match: { safe_regex: { regex: "GET|HEAD" } } }],
      },
      route: { cluster: STATIC_CLUSTERS.admin },
    },
    {
      match: { path: STATS_PATH },
      direct_response: { status: 405 },
      // The response does not wait for a body.
      typed_per_filter_config: {
        [BODY_FILTER]: extension("filters.http.buffer.v3.BufferPerRoute", { disabled: true }),
      },
    },
  ];
}

/** Rejects a request with a body, with 413: one byte is the least that Envoy can be set to allow. */
function noBodyFilter() {
  return { name: BODY_FILTER, typed_config: extension("filters.http.buffer.v3.Buffer", { max_request_bytes: 1 }) };
}

function connectionLimitFilter() {
  return {
    name: "envoy.filters.network.connection_limit",
    typed_config: extension("filters.network.connection_limit.v3.ConnectionLimit", {
      stat_prefix: "stats",
      max_connections: String(MOST_STATS_CONNECTIONS),
    }),
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

/** Responds to the probes itself, before any other filter; 503 once the gateway is draining. */
function healthFilter() {
  return {
    name: "envoy.filters.http.health_check",
    typed_config: extension("filters.http.health_check.v3.HealthCheck", {
      pass_through_mode: false,
      headers: [{ name: ":path", string_match: { exact: HEALTH_PATH } }],
    }),
  };
}

/** What the scripts find set in the copy that runs while engines are changing. */
const WHILE_CHANGING = { name: WAKE_CHANGING.script, prelude: "CHANGING = true" } as const;

/**
 * One filter for all scripts: a later script may replace what an earlier one defines. A route may select a variant of
 * them, which runs with variables of its own.
 */
export function luaFilter(scripts: readonly string[], variant?: { readonly name: string; readonly prelude: string }) {
  const source = scripts.join("\n");
  return {
    name: LUA_FILTER,
    typed_config: extension("filters.http.lua.v3.Lua", {
      default_source_code: { inline_string: source },
      ...(variant === undefined
        ? {}
        : { source_codes: { [variant.name]: { inline_string: `${variant.prelude}\n${source}` } } }),
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
