// How long a server keeps a connection that asks nothing. It must be longer than its callers keep one, so that they are the ones to
// close: a request that crosses our closing is lost, and what it asks for with it.

/** Longer than the API server and Prometheus (90 s), or a proxy in front (30 s), keep an idle connection. */
export const IDLE_CONNECTION_MS = 150_000;

/**
 * The options of a Node server for it. All three: a connection that was opened and not used yet counts for Node as a request whose
 * headers, and whose body, are late, and is answered 408. Callers under load open more connections than they then use.
 */
export const keepIdleConnections = (idleMs: number = IDLE_CONNECTION_MS) =>
  ({ headersTimeout: idleMs, requestTimeout: idleMs, keepAliveTimeout: idleMs }) as const;
