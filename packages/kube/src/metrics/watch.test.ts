import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createWatchMetrics } from "./watch.ts";

test("lists, restarts and failures are counted per kind, from zero", async () => {
  const registry = new Registry();
  const metrics = createWatchMetrics(registry);
  const pods = metrics("pods");
  metrics("services");
  pods.relisted?.("start");
  pods.resumed?.();
  pods.resumed?.();
  pods.failed?.(new Error("away"));
  const page = await registry.metrics();
  for (const line of [
    'reflector_lists_total{name="pods"} 1',
    'reflector_watch_restarts_total{name="pods"} 2',
    'reflector_failures_total{name="pods"} 1',
    'reflector_watch_restarts_total{name="services"} 0',
  ])
    expect(page).toContain(line);
  expect(createWatchMetrics(undefined)("pods")).toEqual({});
});
