// The metrics endpoint and the series of the runtime itself.

export { createRuntimeMetrics, type RuntimeMetrics, silentRuntimeMetrics } from "./runtime.ts";
export { createMetricsServer, METRICS_PATH, type MetricsServer, type MetricsServerOptions } from "./server.ts";
export { createWatchMetrics, type WatchMetrics } from "./watch.ts";
