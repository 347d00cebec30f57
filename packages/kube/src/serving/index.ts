// HTTP servers of a controller: probes, TLS listeners, and authorization of metrics.

export { type AccessReview, type AccessReviewOptions, createAccessReview } from "./access-review.ts";
export { IDLE_CONNECTION_MS, keepIdleConnections } from "./idle-connections.ts";
export { type Check, createProbes, type Probes, type ProbesOptions } from "./probes.ts";
export { runTlsListener, type TlsServing } from "./run-tls-listener.ts";
export {
  TlsListener,
  type TlsListenerOptions,
  type TlsRequest,
  type TlsResponse,
  type TlsTimeouts,
} from "./tls-listener.ts";
