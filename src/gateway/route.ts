// The routes of client traffic, and when a query is retried. A query that may have reached an engine is never repeated.
import { FALLBACK_ROUTE, STATIC_CLUSTERS, WAKE_CHANGING, WAKE_HEADERS } from "../api/wake-protocol.ts";
import { BUFFER_LIMIT_BYTES, extension } from "./envoy-types.ts";
import { type EngineSelection, selectionMetadata } from "./host-names.ts";
import { ENGINE_QUERY_PORT } from "./ports.ts";

/** The header that an engine sets when it rejects a query before any work because it is shutting down. */
export const DRAINED_HEADER = "X-Firebolt-Drained";

/**
 * No connection; a connection lost before the first byte of the request; the explicit rejection above. Not `reset` and
 * not `5xx`: both can follow a query that ran.
 */
const RETRY_ON = "connect-failure,reset-before-request,retriable-headers";

/** Without this header, which the scripts set and clients cannot, a query is sent nowhere: 503. */
const CLUSTER_HEADER = WAKE_HEADERS.cluster;

/**
 * The routes to the engines of a namespace. Before the scripts have run none of them leads anywhere: the cluster is
 * what they set. Engines are resolved by name or, with wake, are clusters that the agent publishes; a second route of
 * those selects the script that runs while engines are changing.
 */
export function renderEngineRoutes(
  namespace: string,
  { wake = false, forwarding = renderForwarding(), selection }: RouteOptions = {},
) {
  const gateway = {
    engine_authority_suffix: `-service.${namespace}.svc.cluster.local:${ENGINE_QUERY_PORT}`,
    ...selectionMetadata(namespace, selection),
  };
  return {
    name: "engines",
    virtual_hosts: [
      {
        name: "default",
        domains: ["*"],
        routes: [
          ...(wake ? [renderRoute(gateway, { ...PUBLISHED, ...forwarding }, DECIDED)] : []),
          renderRoute(gateway, { ...BY_NAME, ...forwarding }, NAMED),
          ...(wake ? [renderRoute(gateway, { ...PUBLISHED, ...forwarding }, WHILE_CHANGING)] : []),
          renderRoute(gateway, { ...(wake ? PUBLISHED : BY_HEADER), ...forwarding }),
        ],
      },
    ],
  };
}

interface RouteOptions {
  readonly wake?: boolean;
  readonly forwarding?: object;
  /** How a query may name its engine besides header and parameter. */
  readonly selection?: EngineSelection | undefined;
}

/** The Lua filter, in the chain and in what routes set for it. */
export const LUA_FILTER = "envoy.filters.http.lua";

/** What a route has besides its action. */
interface RouteFields {
  readonly match?: object;
  readonly rest?: object;
}

/**
 * The scripts have chosen a cluster that the agent has published. The first route, because every query is matched
 * again once they have run.
 */
const DECIDED: RouteFields = {
  match: {
    headers: [
      { name: CLUSTER_HEADER, present_match: true },
      { name: CLUSTER_HEADER, string_match: { exact: STATIC_CLUSTERS.engines }, invert_match: true },
    ],
  },
};

/** The scripts have chosen to let the name be resolved. Such queries are counted. */
const NAMED: RouteFields = {
  match: { headers: [{ name: CLUSTER_HEADER, string_match: { exact: STATIC_CLUSTERS.engines } }] },
  rest: { stat_prefix: FALLBACK_ROUTE },
};
const BY_NAME = { cluster: STATIC_CLUSTERS.engines };
const BY_HEADER = { cluster_header: CLUSTER_HEADER };
/** The host that the engine gets is that of the endpoint, which the agent publishes with it. */
const PUBLISHED = { ...BY_HEADER, auto_host_rewrite: true };

/** Matches while the wake agent has set the key through Envoy's admin interface, on all workers at once. */
const WHILE_CHANGING: RouteFields = {
  match: {
    runtime_fraction: {
      default_value: { numerator: 0, denominator: "HUNDRED" },
      runtime_key: WAKE_CHANGING.runtimeKey,
    },
  },
  rest: {
    typed_per_filter_config: {
      [LUA_FILTER]: extension("filters.http.lua.v3.LuaPerRoute", { name: WAKE_CHANGING.script }),
    },
  },
};

/** `metadata` is read by the scripts, which are the same in every gateway. */
function renderRoute(metadata: object, action: object, { match = {}, rest = {} }: RouteFields = {}) {
  return {
    match: { prefix: "/", ...match },
    ...rest,
    metadata: { filter_metadata: { [LUA_FILTER]: metadata } },
    // Without it only as much of a body could be sent again as is read from a client at a time.
    request_body_buffer_limit: String(BUFFER_LIMIT_BYTES),
    route: action,
  };
}

function renderForwarding() {
  return {
    // Queries may run for hours, and silently: only the client's own deadline ends them. Without the second line the
    // listener's idle timeout would cut a query that sends nothing for five minutes.
    timeout: "0s",
    idle_timeout: "0s",
    retry_policy: renderRetryPolicy(),
  };
}

function renderRetryPolicy() {
  return {
    retry_on: RETRY_ON,
    // About six seconds in all, longer than a stale address lives.
    num_retries: 50,
    retry_back_off: { base_interval: "0.025s", max_interval: "0.25s" },
    retriable_headers: [{ name: DRAINED_HEADER, present_match: true }],
    retry_host_predicate: [
      {
        name: "envoy.retry_host_predicates.previous_hosts",
        typed_config: extension("retry.host.previous_hosts.v3.PreviousHostsPredicate", {}),
      },
    ],
    host_selection_retry_max_attempts: "5",
  };
}
