import { ManualClock } from "@firebolt-operator/kube/testing";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { noEngineMetrics } from "../engine/metrics-hooks.ts";
import { noEngineClassMetrics } from "../engineclass/metrics-hooks.ts";
import { noInstanceMetrics } from "../instance/metrics-hooks.ts";
import { createProductMetrics } from "./product-metrics.ts";

const OPTIONS = {
  clock: new ManualClock(),
  build: { version: "1.2.3", revision: "abc", nodeVersion: "v24.1.0" },
} as const;

test("names and types are the documented ones", async () => {
  const registry = new Registry();
  createProductMetrics(registry, OPTIONS).certificates.webhook.loaded?.({
    certificate: "",
    key: "",
    fingerprint: "",
    expiresMs: 5_000,
  });
  const page = await registry.metrics();
  const families = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  expect(families.sort()).toEqual([
    "certwatcher_read_certificate_errors_total counter",
    "certwatcher_read_certificate_total counter",
    "firebolt_engine_active_generation gauge",
    "firebolt_engine_auto_stop_scrape_failing gauge",
    "firebolt_engine_autostop_scale_total counter",
    "firebolt_engine_condition_reason gauge",
    "firebolt_engine_current_generation gauge",
    "firebolt_engine_drain_check_errors_total counter",
    "firebolt_engine_draining_generation gauge",
    "firebolt_engine_last_reconciled_timestamp gauge",
    "firebolt_engine_orphan_deletes_total counter",
    "firebolt_engine_phase_transitions_total counter",
    "firebolt_engine_pods_ready gauge",
    "firebolt_engine_pods_total gauge",
    "firebolt_engine_rollout_duration_seconds histogram",
    "firebolt_engine_spec_replicas gauge",
    "firebolt_engine_status_condition gauge",
    "firebolt_engine_status_phase gauge",
    "firebolt_engineclass_bound_engines gauge",
    "firebolt_engineclass_status_condition gauge",
    "firebolt_instance_component_rollout_stuck gauge",
    "firebolt_instance_condition_reason gauge",
    "firebolt_instance_info gauge",
    "firebolt_instance_last_reconciled_timestamp gauge",
    "firebolt_instance_signing_key_generation gauge",
    "firebolt_instance_signing_key_rotation_lagging_engines gauge",
    "firebolt_instance_signing_key_rotation_pending_seconds gauge",
    "firebolt_instance_signing_key_rotation_pending_step gauge",
    "firebolt_instance_signing_keys gauge",
    "firebolt_instance_status_condition gauge",
    "firebolt_instance_status_phase gauge",
    "firebolt_operator_build_info gauge",
    "firebolt_operator_demand_scrape_errors_total counter",
    "firebolt_operator_webhook_certificate_expiry_timestamp gauge",
  ]);
  expect(page).toContain('firebolt_operator_build_info{version="1.2.3",revision="abc",node_version="v24.1.0"} 1');
  expect(page).toContain("firebolt_operator_webhook_certificate_expiry_timestamp 5\n");
});

test("a certificate that was never loaded has no expiry", async () => {
  const registry = new Registry();
  const { certificates } = createProductMetrics(registry, OPTIONS);
  certificates.metrics.read?.();
  certificates.webhook.read?.();
  certificates.webhook.failed?.();
  const page = await registry.metrics();
  expect(page).toContain("certwatcher_read_certificate_total 2");
  expect(page).toContain("certwatcher_read_certificate_errors_total 1");
  expect(page).not.toContain("firebolt_operator_webhook_certificate_expiry_timestamp");
});

test("the series of a class are updated and deleted with it", async () => {
  const registry = new Registry();
  const { engineClass } = createProductMetrics(registry, OPTIONS);
  const lines = async () =>
    (await registry.metrics()).split("\n").filter((line) => line.startsWith("firebolt_engineclass_"));
  const key = { namespace: "ns", name: "c" };
  const ready = { type: "Ready", status: "True", reason: "Admissible", message: "", lastTransitionTime: "" } as const;
  engineClass.passEnded({ engineClass: key, status: { boundEngines: 4, conditions: [ready] } });
  expect(await lines()).toEqual([
    'firebolt_engineclass_bound_engines{namespace="ns",name="c"} 4',
    'firebolt_engineclass_status_condition{namespace="ns",name="c",type="Ready"} 1',
  ]);
  engineClass.removed(key);
  expect(await lines()).toEqual([]);
});

test("failed demand scrapes are counted per namespace", async () => {
  const registry = new Registry();
  const { demand } = createProductMetrics(registry, OPTIONS);
  demand.scrapeFailed("a");
  demand.scrapeFailed("a");
  expect(await registry.metrics()).toContain('firebolt_operator_demand_scrape_errors_total{namespace="a"} 2');
});

test("with metrics off every recorder is a no-op", () => {
  const off = createProductMetrics(undefined, OPTIONS);
  expect(off.engine).toBe(noEngineMetrics);
  expect(off.instance).toBe(noInstanceMetrics);
  expect(off.engineClass).toBe(noEngineClassMetrics);
  off.demand.scrapeFailed("a");
  expect(off.certificates).toEqual({ webhook: {}, metrics: {} });
});
