// What a gateway does before it runs out of memory or of connections: it refuses new work, so that what it has already accepted goes on.
// Without it the kernel kills the container, and every query of every client with it.
import { extension } from "./envoy-types.ts";

const HEAP_MONITOR = "envoy.resource_monitors.fixed_heap";
const CONNECTIONS_MONITOR = "envoy.resource_monitors.global_downstream_max_connections";

/** Client connections of one gateway pod, over all engines. One takes 7 KiB, and 28 KiB once it has carried a request. */
export const MAX_CLIENT_CONNECTIONS = 16_384;

/**
 * The share of the container's memory that Envoy's heap may take. The rest is for what the limit counts and the heap does not: code, stacks,
 * and the kernel's socket buffers, which are full exactly when the heap is.
 */
const HEAP_SHARE = 0.8;

/** Shares of the heap at which each measure begins. */
const SHRINK_AT = 0.7;
/** The quarter above is for uploads that have been accepted and still grow, to four MiB each. */
const STOP_REQUESTS_AT = 0.75;
/** Even a refusal takes memory. Connections are closed, not left waiting: a client must learn that it is not served. */
const REJECT_CONNECTIONS_AT = 0.95;

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
    // Often: what is accepted between two looks is accepted whatever it takes.
    refresh_interval: "0.05s",
    resource_monitors: [connections, heap],
    actions: [
      { name: "envoy.overload_actions.shrink_heap", triggers: [above(SHRINK_AT)] },
      { name: "envoy.overload_actions.stop_accepting_requests", triggers: [above(STOP_REQUESTS_AT)] },
      { name: "envoy.overload_actions.reject_incoming_connections", triggers: [above(REJECT_CONNECTIONS_AT)] },
    ],
  };
}

function above(value: number) {
  return { name: HEAP_MONITOR, threshold: { value } };
}

/** For listeners that nobody but the pod's own side uses: probes, statistics and the wake agent work however busy clients are. */
export const EXEMPT_FROM_OVERLOAD = { ignore_global_conn_limit: true, bypass_overload_manager: true } as const;
