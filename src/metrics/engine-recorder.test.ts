import { ManualClock } from "@firebolt-operator/kube/testing";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import type { EngineStatus } from "../api/firebolt-engine/status.ts";
import { type EnginePassRecord, noEngineMetrics } from "../engine/metrics-hooks.ts";
import { createEngineRecorder } from "./engine-recorder.ts";

const KEY = { namespace: "ns", name: "e" };
const WHO = 'namespace="ns",name="e",instance="main"';
const NOW_MS = 1_700_000_000_500;

function setup() {
  const registry = new Registry();
  const clock = new ManualClock();
  const recorder = createEngineRecorder(registry, clock);
  /** The page without comments. */
  const lines = async () =>
    (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const about = async (name: string) =>
    (await lines()).filter((line) => line.startsWith(`${name}{`)).map((line) => line.slice(name.length));
  return { clock, recorder, lines, about };
}

const condition = (type: string, status: "True" | "False", reason: string) => ({
  type,
  status,
  reason,
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

const STABLE: EngineStatus = {
  phase: "stable",
  currentGeneration: 3,
  activeGeneration: 3,
  conditions: [condition("Ready", "True", "EngineReady"), condition("InstanceReady", "True", "InstanceReady")],
};

const ended = (changes: Partial<EnginePassRecord> = {}): EnginePassRecord => ({
  engine: KEY,
  instance: "main",
  status: STABLE,
  replicas: 2,
  pods: { ready: 1, total: 2 },
  succeeded: true,
  nowMs: NOW_MS,
  ...changes,
});

test("a pass writes every gauge, and every value of an enumeration", async () => {
  const { recorder, lines } = setup();
  recorder.passEnded(ended());
  expect(await lines()).toEqual([
    ...["creating 0", "switching 0", "draining 0", "cleaning 0", "stable 1", "stopped 0"].map((pair) => {
      const [phase, value] = pair.split(" ");
      return `firebolt_engine_status_phase{${WHO},phase="${phase}"} ${value}`;
    }),
    `firebolt_engine_status_condition{${WHO},type="Ready"} 1`,
    `firebolt_engine_status_condition{${WHO},type="InstanceReady"} 1`,
    `firebolt_engine_condition_reason{${WHO},type="Ready",reason="EngineReady"} 1`,
    `firebolt_engine_condition_reason{${WHO},type="InstanceReady",reason="InstanceReady"} 1`,
    `firebolt_engine_spec_replicas{${WHO}} 2`,
    `firebolt_engine_current_generation{${WHO}} 3`,
    `firebolt_engine_active_generation{${WHO}} 3`,
    `firebolt_engine_draining_generation{${WHO}} -1`,
    `firebolt_engine_pods_ready{${WHO}} 1`,
    `firebolt_engine_pods_total{${WHO}} 2`,
    `firebolt_engine_auto_stop_scrape_failing{${WHO}} 0`,
    `firebolt_engine_last_reconciled_timestamp{${WHO}} 1700000000.5`,
    `firebolt_engine_drain_check_errors_total{${WHO}} 0`,
  ]);
});

test("an engine without a status has no generation, no condition and no phase", async () => {
  const { recorder, about } = setup();
  recorder.passEnded(ended({ status: undefined }));
  expect(await about("firebolt_engine_active_generation")).toEqual([`{${WHO}} -1`]);
  expect(await about("firebolt_engine_status_condition")).toEqual([
    `{${WHO},type="Ready"} 0`,
    `{${WHO},type="InstanceReady"} 0`,
  ]);
  expect(await about("firebolt_engine_condition_reason")).toEqual([]);
  expect((await about("firebolt_engine_status_phase")).every((line) => line.endsWith(" 0"))).toBe(true);
});

test("a failed pass keeps the timestamp and what it did not observe", async () => {
  const { recorder, about } = setup();
  recorder.passEnded(ended());
  recorder.passEnded(ended({ succeeded: false, pods: undefined, replicas: 5, nowMs: NOW_MS + 60_000 }));
  expect(await about("firebolt_engine_last_reconciled_timestamp")).toEqual([`{${WHO}} 1700000000.5`]);
  expect(await about("firebolt_engine_pods_ready")).toEqual([`{${WHO}} 1`]);
  expect(await about("firebolt_engine_spec_replicas")).toEqual([`{${WHO}} 5`]);
});

test("the series of a former reason is deleted", async () => {
  const { recorder, about } = setup();
  recorder.passEnded(ended());
  recorder.passEnded(ended({ status: { ...STABLE, conditions: [condition("Ready", "False", "PodsNotReady")] } }));
  expect(await about("firebolt_engine_condition_reason")).toEqual([`{${WHO},type="Ready",reason="PodsNotReady"} 1`]);
});

test("counts before the instance is known are kept", async () => {
  const { recorder, about, lines } = setup();
  recorder.phaseChanged(KEY, "", "creating");
  recorder.orphanDeleted(KEY, "Service");
  expect(await lines()).toEqual([]);
  recorder.passEnded(ended());
  recorder.phaseChanged(KEY, "creating", "switching");
  recorder.phaseChanged(KEY, "creating", "switching");
  recorder.scaled(KEY, "down", "Idle");
  recorder.drainCheckFailed(KEY);
  expect(await about("firebolt_engine_phase_transitions_total")).toEqual([
    `{${WHO},from="",to="creating"} 1`,
    `{${WHO},from="creating",to="switching"} 2`,
  ]);
  expect(await about("firebolt_engine_orphan_deletes_total")).toEqual([`{${WHO},kind="Service"} 1`]);
  expect(await about("firebolt_engine_autostop_scale_total")).toEqual([`{${WHO},direction="down",reason="Idle"} 1`]);
  expect(await about("firebolt_engine_drain_check_errors_total")).toEqual([`{${WHO}} 1`]);
});

test("a rollout is measured from its start to its completion or abandonment", async () => {
  const { recorder, clock, about } = setup();
  recorder.passEnded(ended());
  // It began before the process did.
  recorder.rollout(KEY, "completed");
  recorder.rollout(KEY, "started");
  await clock.advance(20_000);
  recorder.rollout(KEY, "abandoned");
  recorder.rollout(KEY, "started");
  await clock.advance(100_000);
  recorder.rollout(KEY, "completed");
  expect(await about("firebolt_engine_rollout_duration_seconds_sum")).toEqual([
    `{${WHO},outcome="abandoned"} 20`,
    `{${WHO},outcome="completed"} 100`,
  ]);
  const buckets = await about("firebolt_engine_rollout_duration_seconds_bucket");
  expect(buckets).toContain(`{le="60",${WHO},outcome="completed"} 0`);
  expect(buckets).toContain(`{le="120",${WHO},outcome="completed"} 1`);
  expect(buckets).toContain(`{le="15",${WHO},outcome="abandoned"} 0`);
  expect(buckets).toContain(`{le="30",${WHO},outcome="abandoned"} 1`);
});

test("all series are deleted with the engine, and the next engine of that name starts without them", async () => {
  const { recorder, clock, lines } = setup();
  const other = { namespace: "ns", name: "other" };
  recorder.passEnded(ended({ engine: other }));
  const before = await lines();
  recorder.passEnded(ended());
  recorder.phaseChanged(KEY, "stable", "creating");
  recorder.rollout(KEY, "started");
  recorder.rollout(KEY, "abandoned");
  recorder.rollout(KEY, "started");
  recorder.scaled(KEY, "up", "WakeRequested");
  recorder.orphanDeleted(KEY, "StatefulSet");
  recorder.drainCheckFailed(KEY);
  expect((await lines()).length).toBeGreaterThan(before.length * 2);
  recorder.removed(KEY);
  expect(await lines()).toEqual(before);
  await clock.advance(5_000);
  recorder.rollout(KEY, "completed");
  recorder.passEnded(ended());
  expect((await lines()).length).toBe(before.length * 2);
});

test("an engine that moves to another instance is not counted twice", async () => {
  const { recorder, lines } = setup();
  recorder.passEnded(ended());
  recorder.phaseChanged(KEY, "stable", "creating");
  recorder.passEnded(ended({ instance: "second" }));
  expect((await lines()).filter((line) => line.includes('instance="main"'))).toEqual([]);
  expect(await lines()).toContain('firebolt_engine_spec_replicas{namespace="ns",name="e",instance="second"} 2');
});

test("without a registry nothing is recorded", () => {
  expect(createEngineRecorder(undefined, new ManualClock())).toBe(noEngineMetrics);
});

test("auto-stop with unknown activity has a series of its own", async () => {
  const { recorder, about } = setup();
  recorder.passEnded(ended({ status: { ...STABLE, autoStopReason: "ScrapeFailed" } }));
  expect(await about("firebolt_engine_auto_stop_scrape_failing")).toEqual([`{${WHO}} 1`]);
  recorder.passEnded(ended({ status: { ...STABLE, autoStopReason: "Idle" } }));
  expect(await about("firebolt_engine_auto_stop_scrape_failing")).toEqual([`{${WHO}} 0`]);
});
