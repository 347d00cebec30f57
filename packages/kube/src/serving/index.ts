// What a controller serves over HTTP: probes, TLS listeners, and who may read.

export { type AccessReview, type AccessReviewOptions, createAccessReview } from "./access-review.ts";
export { IDLE_CONNECTION_MS, keepIdleConnections } from "./idle-connections.ts";
export { type Check, createProbes, type Probes, type ProbesOptions } from "./probes.ts";
export {
  type TlsAnswer,
  TlsListener,
  type TlsListenerOptions,
  type TlsRequest,
  type TlsTimeouts,
} from "./tls-listener.ts";
