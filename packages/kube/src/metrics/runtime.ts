// The runtime's own metrics, with the names and labels that existing controller dashboards expect. The caller owns the
// registry; without one every recorder is a no-op. State is read only during a scrape.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { QueueObserver, RunningWork } from "../controller/workqueue.ts";

export type PassResult = "success" | "error" | "requeue" | "requeue_after";

/** Records the passes of one controller. */
export interface PassRecorder {
  started(): void;
  /** Without a result if the pass was interrupted by the shutdown. */
  finished(durationMs: number, result?: PassResult): void;
  failed(kind: "error" | "terminal" | "bug"): void;
}

/** Records the queue of one controller. */
export interface QueueRecorder extends QueueObserver {
  /** Where to read running work during a scrape. */
  watch(running: () => RunningWork): void;
}

/** Where the parts of the runtime record their metrics. */
export interface RuntimeMetrics {
  passes(controller: string, concurrency: number): PassRecorder;
  queue(controller: string): QueueRecorder;
  /** One exchange with the API server; use it as the client's `onRequest`. */
  request(info: { readonly code: string; readonly method: string; readonly host: string }): void;
  leading(lease: string, leading: boolean): void;
}

const PASS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const QUEUE_SECONDS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000];

/** The metrics of controllers, queues, requests and leadership, with the names that controller dashboards expect. */
export function createRuntimeMetrics(registry: Registry | undefined): RuntimeMetrics {
  if (registry === undefined) return silentRuntimeMetrics;
  const registers = [registry];
  const requests = new Counter({
    registers,
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method and host.",
    labelNames: ["code", "method", "host"],
  });
  const leading = new Gauge({
    registers,
    name: "leader_election_master_status",
    help: "1 while this process holds the lease, 0 otherwise.",
    labelNames: ["name"],
  });
  return {
    passes: passRecorders(registry),
    queue: queueRecorders(registry),
    request: ({ code, method, host }) => requests.inc({ code, method, host }),
    leading: (lease, holds) => leading.set({ name: lease }, holds ? 1 : 0),
  };
}

function passRecorders(registry: Registry): RuntimeMetrics["passes"] {
  const labelled = { registers: [registry], labelNames: ["controller"] as const };
  const total = new Counter({
    registers: [registry],
    name: "controller_runtime_reconcile_total",
    help: "Reconciliations per controller and result.",
    labelNames: ["controller", "result"],
  });
  const errors = new Counter({
    ...labelled,
    name: "controller_runtime_reconcile_errors_total",
    help: "Reconciliations that failed.",
  });
  const terminal = new Counter({
    ...labelled,
    name: "controller_runtime_terminal_reconcile_errors_total",
    help: "Reconciliations that failed with a terminal error and are not retried until something changes.",
  });
  const panics = new Counter({
    ...labelled,
    name: "controller_runtime_reconcile_panics_total",
    help: "Reconciliations that failed because of a bug.",
  });
  const seconds = new Histogram({
    ...labelled,
    name: "controller_runtime_reconcile_time_seconds",
    help: "Duration of a reconciliation.",
    buckets: PASS_SECONDS,
  });
  const limit = new Gauge({
    ...labelled,
    name: "controller_runtime_max_concurrent_reconciles",
    help: "Maximum number of concurrent reconciliations.",
  });
  const active = new Gauge({
    ...labelled,
    name: "controller_runtime_active_workers",
    help: "Workers that are reconciling.",
  });
  return (controller, concurrency) => {
    const labels = { controller };
    for (const result of ["success", "error", "requeue", "requeue_after"]) total.inc({ controller, result }, 0);
    for (const counter of [errors, terminal, panics]) counter.inc(labels, 0);
    limit.set(labels, concurrency);
    active.set(labels, 0);
    return {
      started: () => active.inc(labels),
      finished(durationMs, result) {
        active.dec(labels);
        if (result === undefined) return;
        seconds.observe(labels, durationMs / 1000);
        total.inc({ controller, result });
      },
      failed(kind) {
        errors.inc(labels);
        if (kind === "terminal") terminal.inc(labels);
        if (kind === "bug") panics.inc(labels);
      },
    };
  };
}

function queueRecorders(registry: Registry): RuntimeMetrics["queue"] {
  const labelled = { registers: [registry], labelNames: ["name", "controller"] as const };
  const running = new Map<string, () => RunningWork>();
  const depth = new Gauge({ ...labelled, name: "workqueue_depth", help: "Keys that are due and wait for a worker." });
  const adds = new Counter({ ...labelled, name: "workqueue_adds_total", help: "Keys that became due." });
  const retries = new Counter({ ...labelled, name: "workqueue_retries_total", help: "Keys requeued with back-off." });
  const waited = new Histogram({
    ...labelled,
    name: "workqueue_queue_duration_seconds",
    help: "How long a due key waits for a worker.",
    buckets: QUEUE_SECONDS,
  });
  const worked = new Histogram({
    ...labelled,
    name: "workqueue_work_duration_seconds",
    help: "How long a worker holds a key.",
    buckets: QUEUE_SECONDS,
  });
  new Gauge({
    ...labelled,
    name: "workqueue_unfinished_work_seconds",
    help: "Total time that the keys in work have been held.",
    collect() {
      for (const [name, read] of running) this.set({ name, controller: name }, read().unfinishedMs / 1000);
    },
  });
  new Gauge({
    ...labelled,
    name: "workqueue_longest_running_processor_seconds",
    help: "Longest time that a key in work has been held.",
    collect() {
      for (const [name, read] of running) this.set({ name, controller: name }, read().longestMs / 1000);
    },
  });
  return (controller) => {
    const labels = { name: controller, controller };
    depth.set(labels, 0);
    adds.inc(labels, 0);
    retries.inc(labels, 0);
    return {
      added: () => adds.inc(labels),
      depth: (keys) => depth.set(labels, keys),
      waited: (ms) => waited.observe(labels, ms / 1000),
      worked: (ms) => worked.observe(labels, ms / 1000),
      retried: () => retries.inc(labels),
      watch: (read) => running.set(controller, read),
    };
  };
}

const ignore = (): void => undefined;
const silentPasses: PassRecorder = { started: ignore, finished: ignore, failed: ignore };
const silentQueue: QueueRecorder = {
  added: ignore,
  depth: ignore,
  waited: ignore,
  worked: ignore,
  retried: ignore,
  watch: ignore,
};

/** Records nothing: for programs that expose no metrics. */
export const silentRuntimeMetrics: RuntimeMetrics = {
  passes: () => silentPasses,
  queue: () => silentQueue,
  request: ignore,
  leading: ignore,
};
