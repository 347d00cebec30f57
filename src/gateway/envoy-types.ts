// Spelling of Envoy's configuration: extension types, addresses, sizes that several parts share. No decisions are made here.
import { WAKE_CLUSTER } from "../api/wake-protocol.ts";

const EXTENSION_PREFIX = "type.googleapis.com/envoy.extensions.";

/** An extension's configuration: its type first, as Envoy's own examples write it. */
export function extension<T extends object>(type: string, fields: T): { readonly "@type": string } & T {
  return { "@type": `${EXTENSION_PREFIX}${type}`, ...fields };
}

export function socketAddress(address: string, port: number) {
  return { socket_address: { address, port_value: port } };
}

/** What Envoy holds of a body on its way to an engine. It bounds the body that a retry can send again. */
export const BUFFER_LIMIT_BYTES = 2 * 1024 * 1024;

/**
 * What Envoy reads of one client at a time. Small, because it is read whatever the memory is: only between two reads a worker sees that
 * the heap is full.
 */
export const CLIENT_BUFFER_BYTES = 256 * 1024;

/** What Envoy holds of one connection that asks for statistics, on either side. */
export const STATS_BUFFER_BYTES = 64 * 1024;

/** What Envoy holds at most of one request that cannot be sent on: one buffer in the proxy, and one of what the client has sent meanwhile. */
export const STALLED_REQUEST_BYTES = 2 * BUFFER_LIMIT_BYTES;

/**
 * How long a new connection may take, inside one cluster. Not less: on a busy machine Envoy's own turn comes late, and every connection
 * it gives up is one more to make.
 */
export const CONNECT_TIMEOUT = "1s";

/**
 * A peer that is gone without a word is noticed after 30 s of silence and three unanswered probes: a minute at most. While a query runs no
 * byte is on its way, so without probes neither side ever learns that the other's node has vanished.
 */
export const TCP_KEEPALIVE = { keepalive_probes: 3, keepalive_time: 30, keepalive_interval: 10 } as const;

/** Names by which routes find their clusters. */
export const CLUSTER_NAME = {
  engines: "dynamic_forward_proxy",
  admin: "admin_stats",
  wakeAgent: WAKE_CLUSTER,
} as const;
