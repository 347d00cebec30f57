// How long a server keeps an idle connection. Longer than its clients do, so that the clients close first: a request
// that crosses the server's close is lost.

/** Longer than the API server and Prometheus (90 s), or a proxy in front (30 s), keep an idle connection. */
export const IDLE_CONNECTION_MS = 150_000;

/**
 * The options of a Node server for it. All three are needed: Node treats a connection that was opened and not used yet
 * as a request whose headers and body are late, and responds 408. Clients under load open more connections than they
 * use.
 */
export const keepIdleConnections = (idleMs: number = IDLE_CONNECTION_MS) =>
  ({ headersTimeout: idleMs, requestTimeout: idleMs, keepAliveTimeout: idleMs }) as const;
