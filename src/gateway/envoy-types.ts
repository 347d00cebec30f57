// Building blocks of Envoy's configuration: extension types, addresses, and sizes that several parts share. No
// decisions.
const EXTENSION_PREFIX = "type.googleapis.com/envoy.extensions.";

/** An extension's configuration: its type first, as Envoy's own examples write it. */
export function extension<T extends object>(type: string, fields: T): { readonly "@type": string } & T {
  return { "@type": `${EXTENSION_PREFIX}${type}`, ...fields };
}

export function socketAddress(address: string, port: number) {
  return { socket_address: { address, port_value: port } };
}

/** How much of a request body Envoy buffers. It limits the body that a retry can send again. */
export const BUFFER_LIMIT_BYTES = 2 * 1024 * 1024;

/**
 * How much Envoy reads from one client at a time. Small, because a read happens regardless of memory: a worker notices
 * a full heap only between two reads.
 */
export const CLIENT_BUFFER_BYTES = 256 * 1024;

/** How much Envoy buffers per connection for statistics, on either side. */
export const STATS_BUFFER_BYTES = 64 * 1024;

/**
 * The most that Envoy buffers of one request that cannot be sent on: one buffer in the proxy, and one of what the
 * client sent meanwhile.
 */
export const STALLED_REQUEST_BYTES = 2 * BUFFER_LIMIT_BYTES;

/**
 * How long a new connection may take, inside one cluster. Not less: on a busy machine Envoy is scheduled late, and
 * every connection that it abandons is one more to open.
 */
export const CONNECT_TIMEOUT_SECONDS = 1;
export const CONNECT_TIMEOUT = `${CONNECT_TIMEOUT_SECONDS}s`;

/**
 * A peer that vanished is detected after 30 s of silence and three probes without a response: a minute at most. While a
 * query runs no byte is sent, so without probes neither side ever learns that the other's node is gone.
 */
export const TCP_KEEPALIVE = { keepalive_probes: 3, keepalive_time: 30, keepalive_interval: 10 } as const;
