// Where requests can go: the engines, found by name when they are asked for, and Envoy's own statistics.
import { BUFFER_LIMIT_BYTES, CLUSTER_NAME, CONNECT_TIMEOUT, extension, socketAddress } from "./envoy-types.ts";

/** Envoy copies everything set here into one cluster per engine, with one host per address of the engine's Service. */
export function renderEngineCluster() {
  return {
    name: CLUSTER_NAME.engines,
    connect_timeout: CONNECT_TIMEOUT,
    per_connection_buffer_limit_bytes: BUFFER_LIMIT_BYTES,
    lb_policy: "CLUSTER_PROVIDED",
    // Well inside the time for which a query is retried: at Envoy's default of 5 s, queries that meet the end of the last old pod
    // run out of retries before the new address is known. The successor of this deprecated field is a cluster type of its own,
    // which a forward proxy cannot take.
    dns_refresh_rate: "2s",
    cluster_type: {
      name: "envoy.clusters.dynamic_forward_proxy",
      typed_config: extension("clusters.dynamic_forward_proxy.v3.ClusterConfig", {
        sub_clusters_config: { lb_policy: "ROUND_ROBIN", sub_cluster_ttl: "300s" },
      }),
    },
    // One query per connection: a stale address costs one failed connect, never a query on a connection about to close. The
    // successor of this deprecated field makes a forward proxy refuse to load without TLS settings.
    max_requests_per_connection: 1,
    circuit_breakers: {
      thresholds: [
        {
          priority: "DEFAULT",
          max_connections: 1024,
          max_pending_requests: 1024,
          max_requests: 1024,
          max_retries: 1024,
        },
      ],
    },
    // An address that left the Service gets no new query, healthy or not: the old generation of an engine stays healthy while it
    // drains, and would go on taking queries and never be drained.
    ignore_health_on_host_removal: true,
    // On the query port: the forward proxy allows no other port per host.
    health_checks: [
      {
        timeout: "0.5s",
        interval: "1s",
        no_traffic_interval: "1s",
        healthy_threshold: 1,
        unhealthy_threshold: 1,
        http_health_check: { path: "/health/ready" },
      },
    ],
  };
}

export function renderAdminCluster(adminPort: number) {
  return {
    name: CLUSTER_NAME.admin,
    type: "STATIC",
    connect_timeout: CONNECT_TIMEOUT,
    load_assignment: {
      cluster_name: CLUSTER_NAME.admin,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress("127.0.0.1", adminPort) } }] }],
    },
  };
}
