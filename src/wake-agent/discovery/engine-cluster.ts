// An engine as Envoy gets it: a cluster that keeps its connections, and the addresses of its pods. Limits and timeouts
// are those of the engines that are resolved by name (src/gateway/clusters.ts).
import { createHash } from "node:crypto";
import { ENGINE_LIMITS } from "../../gateway/clusters.ts";
import { BUFFER_LIMIT_BYTES, CONNECT_TIMEOUT_SECONDS, TCP_KEEPALIVE } from "../../gateway/envoy-types.ts";
import { ENGINE_QUERY_PORT } from "../../gateway/ports.ts";
import type { Resource } from "./messages.ts";
import { integerField, messageField, textField } from "./protobuf.ts";

/**
 * Envoy closes a connection that was idle for this long. Less than an engine waits before it closes one itself: a query
 * that is sent on a connection which the engine is closing is lost, and may not be repeated.
 */
export const UPSTREAM_IDLE_SECONDS = 3;

const EDS = 3;
const API_V3 = 2;
const HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** envoy.config.cluster.v3.Cluster */
export function encodeEngineCluster(engine: string): Resource {
  const ads = messageField(3);
  const body = Buffer.concat([
    textField(1, engine),
    integerField(2, EDS),
    messageField(3, messageField(1, ads, integerField(6, API_V3))),
    messageField(4, integerField(1, CONNECT_TIMEOUT_SECONDS)),
    wrapped(5, BUFFER_LIMIT_BYTES),
    messageField(10, messageField(1, ...THRESHOLDS)),
    messageField(30, messageField(1, ...KEEPALIVE)),
    messageField(36, textField(1, HTTP_OPTIONS), messageField(2, ...PROTOCOL_OPTIONS)),
  ]);
  return { version: versionOf(body), body };
}

const THRESHOLDS = [
  wrapped(2, ENGINE_LIMITS.connections),
  wrapped(3, ENGINE_LIMITS.connecting),
  wrapped(4, ENGINE_LIMITS.queries),
  wrapped(5, ENGINE_LIMITS.retries),
];

const KEEPALIVE = [
  wrapped(1, TCP_KEEPALIVE.keepalive_probes),
  wrapped(2, TCP_KEEPALIVE.keepalive_time),
  wrapped(3, TCP_KEEPALIVE.keepalive_interval),
];

/** An `Any` of HttpProtocolOptions: HTTP/1.1, and the idle timeout. */
const PROTOCOL_OPTIONS = [
  textField(1, `type.googleapis.com/${HTTP_OPTIONS}`),
  messageField(
    2,
    messageField(1, messageField(1, integerField(1, UPSTREAM_IDLE_SECONDS))),
    messageField(3, messageField(1)),
  ),
];

/** google.protobuf.UInt32Value */
function wrapped(field: number, value: number): Buffer {
  return messageField(field, integerField(1, value));
}

/**
 * envoy.config.endpoint.v3.ClusterLoadAssignment. Every endpoint has the name of the engine's Service, which Envoy
 * sends as the host of the query.
 */
export function encodeEndpoints(engine: string, namespace: string, addresses: readonly string[]): Resource {
  const host = textField(3, `${engine}-service.${namespace}.svc.cluster.local:${ENGINE_QUERY_PORT}`);
  const body = Buffer.concat([
    textField(1, engine),
    messageField(
      2,
      ...addresses.map((address) => messageField(2, messageField(1, messageField(1, socketAddress(address)), host))),
    ),
  ]);
  return { version: versionOf(body), body };
}

function socketAddress(address: string): Buffer {
  return messageField(1, textField(2, address), integerField(3, ENGINE_QUERY_PORT));
}

function versionOf(body: Buffer): string {
  return createHash("sha256").update(body).digest("base64url").slice(0, 16);
}
