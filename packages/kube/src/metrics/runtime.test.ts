import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { WorkQueue } from "../controller/workqueue.ts";
import { silentLogger } from "../core/logger.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { createRuntimeMetrics, silentRuntimeMetrics } from "./runtime.ts";
import { createMetricsServer } from "./server.ts";

test("names and labels match existing dashboards", async () => {
  const registry = new Registry();
  const metrics = createRuntimeMetrics(registry);
  metrics.passes("thing", 4);
  metrics.queue("thing").watch(() => ({ keys: 0, unfinishedMs: 0, longestMs: 0, longestSilentMs: 0 }));
  metrics.request({ code: "200", method: "GET", host: "127.0.0.1:6443" });
  metrics.leading("the-lease", true);
  const text = await registry.metrics();
  const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  expect(names.sort()).toEqual([
    "controller_runtime_active_workers gauge",
    "controller_runtime_max_concurrent_reconciles gauge",
    "controller_runtime_reconcile_errors_total counter",
    "controller_runtime_reconcile_panics_total counter",
    "controller_runtime_reconcile_time_seconds histogram",
    "controller_runtime_reconcile_total counter",
    "controller_runtime_terminal_reconcile_errors_total counter",
    "leader_election_master_status gauge",
    "rest_client_requests_total counter",
    "workqueue_adds_total counter",
    "workqueue_depth gauge",
    "workqueue_longest_running_processor_seconds gauge",
    "workqueue_queue_duration_seconds histogram",
    "workqueue_retries_total counter",
    "workqueue_unfinished_work_seconds gauge",
    "workqueue_work_duration_seconds histogram",
  ]);
  for (const line of [
    'controller_runtime_reconcile_total{controller="thing",result="requeue_after"} 0',
    'controller_runtime_max_concurrent_reconciles{controller="thing"} 4',
    'workqueue_depth{name="thing",controller="thing"} 0',
    'rest_client_requests_total{code="200",method="GET",host="127.0.0.1:6443"} 1',
    'leader_election_master_status{name="the-lease"} 1',
  ])
    expect(text).toContain(line);
});

test("passes are counted by result, failures by kind", async () => {
  const registry = new Registry();
  const passes = createRuntimeMetrics(registry).passes("thing", 1);
  passes.started();
  passes.finished(200, "success");
  passes.started();
  passes.failed("terminal");
  passes.finished(100, "error");
  passes.started();
  passes.failed("bug");
  passes.finished(100, "error");
  passes.started();
  passes.finished(100);
  passes.started();
  const text = await registry.metrics();
  for (const line of [
    'reconcile_total{controller="thing",result="success"} 1',
    'reconcile_total{controller="thing",result="error"} 2',
    'controller_runtime_reconcile_errors_total{controller="thing"} 2',
    'terminal_reconcile_errors_total{controller="thing"} 1',
    'reconcile_panics_total{controller="thing"} 1',
    'reconcile_time_seconds_count{controller="thing"} 3',
    'reconcile_time_seconds_sum{controller="thing"} 0.4',
    'active_workers{controller="thing"} 1',
  ])
    expect(text).toContain(line);
});

test("running work is read during the scrape", async () => {
  const registry = new Registry();
  const clock = new ManualClock();
  const observer = createRuntimeMetrics(registry).queue("thing");
  const queue = new WorkQueue({ clock, observer });
  observer.watch(() => queue.running());
  queue.add("a");
  queue.add("b");
  const taking = queue.take(new AbortController().signal);
  await taking.next();
  await clock.advance(3_000);
  const text = await registry.metrics();
  for (const line of [
    'workqueue_depth{name="thing",controller="thing"} 1',
    'workqueue_adds_total{name="thing",controller="thing"} 2',
    'workqueue_unfinished_work_seconds{name="thing",controller="thing"} 3',
    'workqueue_longest_running_processor_seconds{name="thing",controller="thing"} 3',
  ])
    expect(text).toContain(line);
});

test("without a registry nothing is recorded", () => {
  expect(createRuntimeMetrics(undefined)).toBe(silentRuntimeMetrics);
});

test("the server serves /metrics, compressed if accepted", async () => {
  const registry = new Registry();
  createRuntimeMetrics(registry).leading("the-lease", false);
  const server = createMetricsServer({ registry, logger: silentLogger, host: "127.0.0.1", port: 0 });
  const stop = new AbortController();
  const running = server.run(stop.signal);
  await server.whenReady?.(stop.signal);
  const url = `http://127.0.0.1:${server.port}`;
  const plain = await fetch(`${url}/metrics`, { headers: { "accept-encoding": "identity" } });
  expect(plain.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(await plain.text()).toContain('leader_election_master_status{name="the-lease"} 0');
  const gzipped = await fetch(`${url}/metrics`, { headers: { "accept-encoding": "gzip" } });
  expect(gzipped.headers.get("content-encoding")).toBe("gzip");
  expect(await gzipped.text()).toContain("leader_election_master_status");
  expect((await fetch(`${url}/`)).status).toBe(404);
  stop.abort();
  await running;
});
