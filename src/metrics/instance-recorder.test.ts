import { Registry } from "prom-client";
import { expect, test } from "vitest";
import type { InstanceStatus } from "../api/firebolt-instance/status.ts";
import { type InstancePassRecord, noInstanceMetrics } from "../instance/metrics-hooks.ts";
import { createInstanceRecorder } from "./instance-recorder.ts";

const WHO = 'namespace="ns",name="main"';
const NOW_MS = Date.UTC(2026, 0, 1, 12);

const condition = (type: string, status: "True" | "False", reason: string) => ({
  type,
  status,
  reason,
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

const READY: InstanceStatus = {
  phase: "Ready",
  conditions: [
    condition("Ready", "True", "AllComponentsReady"),
    condition("MetadataReady", "True", "Ready"),
    condition("GatewayReady", "True", "Ready"),
    condition("AuthReady", "True", "Disabled"),
    condition("EngineTLSReady", "True", "Disabled"),
    condition("GatewayTLSReady", "True", "Disabled"),
  ],
};

const ended = (changes: Partial<InstancePassRecord> = {}): InstancePassRecord => ({
  instance: { namespace: "ns", name: "main" },
  id: "01J",
  postgresMode: "internal",
  status: READY,
  stuck: [],
  succeeded: true,
  nowMs: NOW_MS,
  ...changes,
});

function setup() {
  const registry = new Registry();
  const recorder = createInstanceRecorder(registry);
  const lines = async () =>
    (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const about = async (name: string) =>
    (await lines()).filter((line) => line.startsWith(`${name}{`)).map((line) => line.slice(name.length));
  return { recorder, lines, about };
}

test("a pass writes every gauge; without authentication the key series are flat zero", async () => {
  const { recorder, lines } = setup();
  recorder.passEnded(ended());
  const types = ["Ready", "MetadataReady", "GatewayReady", "AuthReady", "EngineTLSReady", "GatewayTLSReady"];
  const reasons = ["AllComponentsReady", "Ready", "Ready", "Disabled", "Disabled", "Disabled"];
  expect(await lines()).toEqual([
    ...["Provisioning", "Ready", "Degraded", "Failed"].map(
      (phase) => `firebolt_instance_status_phase{${WHO},phase="${phase}"} ${phase === "Ready" ? 1 : 0}`,
    ),
    ...types.map((type) => `firebolt_instance_status_condition{${WHO},type="${type}"} 1`),
    ...types.map((type, i) => `firebolt_instance_condition_reason{${WHO},type="${type}",reason="${reasons[i]}"} 1`),
    `firebolt_instance_info{${WHO},id="01J",postgres_mode="internal"} 1`,
    ...["postgres", "metadata", "gateway"].map(
      (component) => `firebolt_instance_component_rollout_stuck{${WHO},component="${component}"} 0`,
    ),
    `firebolt_instance_last_reconciled_timestamp{${WHO}} ${NOW_MS / 1000}`,
    `firebolt_instance_signing_key_generation{${WHO}} 0`,
    ...["Active", "ValidationOnly", "Removing"].map(
      (phase) => `firebolt_instance_signing_keys{${WHO},phase="${phase}"} 0`,
    ),
    ...["AwaitingPromotion", "AwaitingRetireAnchor", "AwaitingRemoval"].map(
      (step) => `firebolt_instance_signing_key_rotation_pending_step{${WHO},step="${step}"} 0`,
    ),
    `firebolt_instance_signing_key_rotation_pending_seconds{${WHO}} 0`,
    `firebolt_instance_signing_key_rotation_lagging_engines{${WHO}} 0`,
  ]);
});

test("a rotation that waits shows its step, its age and the true number of engines", async () => {
  const { recorder, about } = setup();
  const key = (id: string, phase: "Active" | "ValidationOnly") => ({
    id,
    secretName: id,
    createdAt: "2026-01-01T00:00:00Z",
    phase,
  });
  const auth: InstanceStatus["auth"] = {
    signingKeys: [key("a", "Active"), key("b", "ValidationOnly"), key("c", "ValidationOnly")],
    signingKeyGeneration: 7,
    pendingRotationStep: "AwaitingPromotion",
    pendingSince: "2026-01-01T11:30:00Z",
    laggingEngines: ["e1"],
    laggingEngineCount: 12,
  };
  recorder.passEnded(ended({ status: { ...READY, auth } }));
  expect(await about("firebolt_instance_signing_key_generation")).toEqual([`{${WHO}} 7`]);
  expect(await about("firebolt_instance_signing_keys")).toEqual([
    `{${WHO},phase="Active"} 1`,
    `{${WHO},phase="ValidationOnly"} 2`,
    `{${WHO},phase="Removing"} 0`,
  ]);
  expect(await about("firebolt_instance_signing_key_rotation_pending_step")).toContain(
    `{${WHO},step="AwaitingPromotion"} 1`,
  );
  expect(await about("firebolt_instance_signing_key_rotation_pending_seconds")).toEqual([`{${WHO}} 1800`]);
  expect(await about("firebolt_instance_signing_key_rotation_lagging_engines")).toEqual([`{${WHO}} 12`]);
});

test("another id or database replaces the earlier one; a failed pass keeps the timestamp", async () => {
  const { recorder, about } = setup();
  recorder.passEnded(ended({ id: "" }));
  recorder.passEnded(ended({ postgresMode: "external", succeeded: false, nowMs: NOW_MS + 1_000 }));
  expect(await about("firebolt_instance_info")).toEqual([`{${WHO},id="01J",postgres_mode="external"} 1`]);
  expect(await about("firebolt_instance_last_reconciled_timestamp")).toEqual([`{${WHO}} ${NOW_MS / 1000}`]);
});

test("all series of an instance, and no others, are deleted with it", async () => {
  const { recorder, lines } = setup();
  recorder.passEnded(ended({ instance: { namespace: "ns", name: "other" } }));
  const before = await lines();
  recorder.passEnded(ended());
  recorder.removed({ namespace: "ns", name: "main" });
  expect(await lines()).toEqual(before);
});

test("without a registry nothing is recorded", () => {
  expect(createInstanceRecorder(undefined)).toBe(noInstanceMetrics);
});
