// The upstream clusters: the engines, resolved by name on demand, and Envoy's own statistics.
import { ENGINE_CONTRACT } from "../api/engine-contract.ts";
import { STATIC_CLUSTERS } from "../api/wake-protocol.ts";
import {
  BUFFER_LIMIT_BYTES,
  CONNECT_TIMEOUT,
  extension,
  STATS_BUFFER_BYTES,
  socketAddress,
  TCP_KEEPALIVE,
} from "./envoy-types.ts";

/**
 * How many engines can be in use at the same time; every requested name counts, whether the engine exists or not.
 * Envoy's own limit of 1024 is less than a fleet. One takes 58 KiB with two workers, so these take 570 MiB.
 */
const MOST_SUB_CLUSTERS = 10_000;
/** Envoy's default: what a gateway with little memory still gets. */
const FEWEST_SUB_CLUSTERS = 1_024;
const SUB_CLUSTER_BYTES = 64 * 1024;
/** The share of the container's memory that they may use. */
const SUB_CLUSTER_SHARE = 1 / 4;

/**
 * A name without requests is dropped after one to two of these, and its DNS lookups with it. Short, because names that
 * do not exist are kept as long as those that do; an engine that is used again costs one lookup and one health check,
 * some milliseconds.
 */
const SUB_CLUSTER_TTL = "10s";

export function maxSubClusters(memoryLimitBytes: number | undefined): number {
  if (memoryLimitBytes === undefined) return MOST_SUB_CLUSTERS;
  const fitting = Math.floor((memoryLimitBytes * SUB_CLUSTER_SHARE) / SUB_CLUSTER_BYTES);
  return Math.min(MOST_SUB_CLUSTERS, Math.max(FEWEST_SUB_CLUSTERS, fitting));
}

/** Concurrent queries of one engine in one gateway pod; the next gets 503 at once. */
const MOST_QUERIES = 1_024;
/** Queries that wait for their connection: each may open one, so this is the largest burst. */
const MOST_CONNECTING = 1_024;

/** The limits of one engine, whether Envoy resolves it by name or the agent publishes its endpoints. */
export const ENGINE_LIMITS = {
  queries: MOST_QUERIES,
  connecting: MOST_CONNECTING,
  /**
   * So many that no query ever waits for another's connection: with fewer, queries would hang for as long as clients
   * that send nothing would exhaust the engine's request limit.
   */
  connections: MOST_QUERIES + MOST_CONNECTING,
  retries: 1_024,
} as const;

/** Envoy copies these settings into one cluster per engine, with one host per address of the engine's Service. */
export function renderEngineCluster(memoryLimitBytes: number | undefined) {
  return {
    name: STATIC_CLUSTERS.engines,
    connect_timeout: CONNECT_TIMEOUT,
    per_connection_buffer_limit_bytes: BUFFER_LIMIT_BYTES,
    lb_policy: "CLUSTER_PROVIDED",
    // Well inside the time for which a query is retried: with Envoy's default of 5 s, queries that hit the termination
    // of the last old pod run out of retries before the new address is resolved. The successor of this deprecated field
    // is a cluster type of its own, which a forward proxy cannot use.
    dns_refresh_rate: "2s",
    cluster_type: {
      name: "envoy.clusters.dynamic_forward_proxy",
      typed_config: extension("clusters.dynamic_forward_proxy.v3.ClusterConfig", {
        sub_clusters_config: {
          lb_policy: "ROUND_ROBIN",
          max_sub_clusters: maxSubClusters(memoryLimitBytes),
          sub_cluster_ttl: SUB_CLUSTER_TTL,
        },
      }),
    },
    upstream_connection_options: { tcp_keepalive: TCP_KEEPALIVE },
    // One query per connection: a stale address costs one failed connect, never a query on a connection about to close.
    // The successor of this deprecated field makes a forward proxy refuse to load without TLS settings.
    max_requests_per_connection: 1,
    circuit_breakers: {
      thresholds: [
        {
          priority: "DEFAULT",
          max_connections: ENGINE_LIMITS.connections,
          max_pending_requests: ENGINE_LIMITS.connecting,
          max_requests: ENGINE_LIMITS.queries,
          max_retries: ENGINE_LIMITS.retries,
        },
      ],
    },
    // An address that left the Service gets no new query, healthy or not: the superseded generation of an engine stays
    // healthy while it drains; it would keep receiving queries and never finish draining.
    ignore_health_on_host_removal: true,
    // On the query port: the forward proxy allows no other port per host.
    health_checks: [
      {
        timeout: "0.5s",
        interval: "1s",
        no_traffic_interval: "1s",
        healthy_threshold: 1,
        unhealthy_threshold: 1,
        http_health_check: { path: ENGINE_CONTRACT.endpoints.ready },
      },
    ],
  };
}

/** Statistics responses that are built and sent at the same time; one takes up to some MiB. */
const MOST_STATS_RESPONSES = 8;

export function renderAdminCluster(adminPort: number) {
  return {
    name: STATIC_CLUSTERS.admin,
    type: "STATIC",
    connect_timeout: CONNECT_TIMEOUT,
    per_connection_buffer_limit_bytes: STATS_BUFFER_BYTES,
    circuit_breakers: {
      thresholds: [
        {
          priority: "DEFAULT",
          max_connections: MOST_STATS_RESPONSES,
          max_pending_requests: MOST_STATS_RESPONSES,
          max_requests: MOST_STATS_RESPONSES,
        },
      ],
    },
    load_assignment: {
      cluster_name: STATIC_CLUSTERS.admin,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress("127.0.0.1", adminPort) } }] }],
    },
  };
}
