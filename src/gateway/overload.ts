// What a gateway does before it runs out of memory or of connections: it rejects new work, so that accepted work can
// finish. Without it the kernel kills the container, and every query of every client with it.
import { extension } from "./envoy-types.ts";

const HEAP_MONITOR = "envoy.resource_monitors.fixed_heap";
const CONNECTIONS_MONITOR = "envoy.resource_monitors.global_downstream_max_connections";

/**
 * Client connections of one gateway pod, over all engines. One takes 7 KiB, and 28 KiB once it has carried a request.
 */
export const MAX_CLIENT_CONNECTIONS = 16_384;

/**
 * The share of the container's memory that Envoy's heap may use. The rest is for what counts towards the limit but is
 * not heap: code, stacks, and the kernel's socket buffers, which are full exactly when the heap is.
 */
const HEAP_SHARE = 0.8;

/** Shares of the heap at which each measure starts. */
const SHRINK_AT = 0.7;
/** The quarter above is for uploads that have been accepted and still grow, to four MiB each. */
const STOP_REQUESTS_AT = 0.75;
/**
 * Requests that were accepted while small can grow together to any size: from here on those that are still being
 * received are aborted, with 503, as soon as their next bytes arrive. A query that was received completely sends no
 * more bytes, so it is never aborted.
 */
const END_UPLOADS_AT = 0.85;
/**
 * Even a rejection takes memory. Connections are closed, not left waiting: a client must learn that it is not served.
 */
const REJECT_CONNECTIONS_AT = 0.95;

/** As a power of two: streams that hold 64 KiB and more. */
const TRACK_STREAMS_FROM = 16;

/** Bytes of heap that Envoy may use in a container with this memory limit. */
export function heapBudgetBytes(memoryLimitBytes: number): number {
  return Math.floor(memoryLimitBytes * HEAP_SHARE);
}

/** Without a memory limit there is nothing to compare the heap with: then only connections are bounded. */
export function renderOverloadManager(memoryLimitBytes: number | undefined) {
  const connections = {
    name: CONNECTIONS_MONITOR,
    typed_config: extension("resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig", {
      max_active_downstream_connections: String(MAX_CLIENT_CONNECTIONS),
    }),
  };
  if (memoryLimitBytes === undefined) return { resource_monitors: [connections] };
  const heap = {
    name: HEAP_MONITOR,
    typed_config: extension("resource_monitors.fixed_heap.v3.FixedHeapConfig", {
      max_heap_size_bytes: String(heapBudgetBytes(memoryLimitBytes)),
    }),
  };
  return {
    // Often: between two checks, requests are accepted regardless of their size.
    refresh_interval: "0.01s",
    resource_monitors: [connections, heap],
    actions: [
      { name: "envoy.overload_actions.shrink_heap", triggers: [above(SHRINK_AT)] },
      { name: "envoy.overload_actions.stop_accepting_requests", triggers: [above(STOP_REQUESTS_AT)] },
      {
        name: "envoy.overload_actions.reset_high_memory_stream",
        triggers: [between(END_UPLOADS_AT, REJECT_CONNECTIONS_AT)],
      },
      { name: "envoy.overload_actions.reject_incoming_connections", triggers: [above(REJECT_CONNECTIONS_AT)] },
    ],
    loadshed_points: [
      { name: "envoy.load_shed_points.http1_server_abort_dispatch", triggers: [above(END_UPLOADS_AT)] },
    ],
    // Only HTTP/2 keeps accounts of its streams; the load shed point is the same for HTTP/1.1.
    buffer_factory_config: { minimum_account_to_track_power_of_two: TRACK_STREAMS_FROM },
  };
}

function above(value: number) {
  return { name: HEAP_MONITOR, threshold: { value } };
}

/** Scales with the pressure: Envoy resets more streams the nearer the heap is to the second value. */
function between(scaling_threshold: number, saturation_threshold: number) {
  return { name: HEAP_MONITOR, scaled: { scaling_threshold, saturation_threshold } };
}

/**
 * For listeners whose own limits bound what they use: the kubelet's probes, which come to the pod's address,
 * statistics, and the wake agent on loopback work however busy clients are. A probe that failed for lack of memory
 * would restart the gateway and abort every query.
 */
export const EXEMPT_FROM_OVERLOAD = { ignore_global_conn_limit: true, bypass_overload_manager: true } as const;
