// The one route of client traffic, and when a query is retried. A query that may have reached an engine is never
// repeated.
import { WAKE_CHANGING } from "../api/wake-protocol.ts";
import { BUFFER_LIMIT_BYTES, CLUSTER_NAME, extension } from "./envoy-types.ts";
import { ENGINE_QUERY_PORT } from "./ports.ts";

/** The header that an engine sets when it rejects a query before any work because it is shutting down. */
export const DRAINED_HEADER = "X-Firebolt-Drained";

/**
 * No connection; a connection lost before the first byte of the request; the explicit rejection above. Not `reset` and
 * not `5xx`: both can follow a query that ran.
 */
const RETRY_ON = "connect-failure,reset-before-request,retriable-headers";

/**
 * The routes to the engines of a namespace: one, and with wake a second that signals the scripts that engines are
 * changing.
 */
export function renderEngineRoutes(
  namespace: string,
  { wake = false, forwarding = renderForwarding() }: RouteOptions = {},
) {
  return {
    name: "engines",
    virtual_hosts: [
      {
        name: "default",
        domains: ["*"],
        routes: [
          ...(wake
            ? [
                renderRoute(namespace, forwarding, {
                  match: WHILE_CHANGING,
                  metadata: { [WAKE_CHANGING.metadata]: true },
                }),
              ]
            : []),
          renderRoute(namespace, forwarding),
        ],
      },
    ],
  };
}

interface RouteOptions {
  readonly wake?: boolean;
  readonly forwarding?: object;
}

/** Matches while the wake agent has set the key through Envoy's admin interface, on all workers at once. */
const WHILE_CHANGING = {
  runtime_fraction: { default_value: { numerator: 0, denominator: "HUNDRED" }, runtime_key: WAKE_CHANGING.runtimeKey },
};

function renderRoute(namespace: string, forwarding: object, only: { match?: object; metadata?: object } = {}) {
  return {
    match: { prefix: "/", ...only.match },
    metadata: {
      filter_metadata: {
        // Read by the scripts, which are the same in every gateway.
        "envoy.filters.http.lua": {
          engine_authority_suffix: `-service.${namespace}.svc.cluster.local:${ENGINE_QUERY_PORT}`,
          ...only.metadata,
        },
      },
    },
    // Without it only as much of a body could be sent again as is read from a client at a time.
    request_body_buffer_limit: String(BUFFER_LIMIT_BYTES),
    route: { cluster: CLUSTER_NAME.engines, ...forwarding },
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
