// Metrics of the instance reconciler (docs/monitoring.md#instance-and-class-metrics). Keeps the series of each
// instance and nothing else.
import { formatKey } from "@firebolt-operator/kube";
import type { Registry } from "prom-client";
import type { InstanceStatus } from "../api/firebolt-instance/status.ts";
import { INSTANCE_PHASES, ROTATION_STEPS, SIGNING_KEY_PHASES } from "../api/phases.ts";
import type { DeepReadonly } from "../api/values/deep-readonly.ts";
import { type InstanceMetrics, type InstancePassRecord, noInstanceMetrics } from "../instance/metrics-hooks.ts";
import { familiesOf } from "./families.ts";
import { type Labels, ObjectSeries } from "./object-series.ts";
import { conditionRows, oneOfRows, reasonRows } from "./status-rows.ts";

const CONDITIONS = [
  "Ready",
  "MetadataReady",
  "GatewayReady",
  "AuthReady",
  "EngineTLSReady",
  "GatewayTLSReady",
] as const;

const COMPONENTS = ["postgres", "metadata", "gateway"] as const;

type InstanceFamilies = ReturnType<typeof instanceFamilies>;
type AuthStatus = DeepReadonly<InstanceStatus>["auth"];

function instanceFamilies(registry: Registry) {
  const { gauge } = familiesOf(registry, ["namespace", "name"]);
  return {
    phase: gauge(
      "firebolt_instance_status_phase",
      "1 for the current phase of the instance, 0 for the others.",
      "phase",
    ),
    condition: gauge("firebolt_instance_status_condition", "1 when the condition is True, else 0.", "type"),
    reason: gauge("firebolt_instance_condition_reason", "1 for the current reason of the condition.", "type", "reason"),
    info: gauge("firebolt_instance_info", "Information about the instance; always 1.", "id", "postgres_mode"),
    stuck: gauge(
      "firebolt_instance_component_rollout_stuck",
      "1 while pods of the component cannot become ready and their status names the cause, even if other pods serve; else 0.",
      "component",
    ),
    lastReconciled: gauge(
      "firebolt_instance_last_reconciled_timestamp",
      "Time of the last successful reconcile, in seconds since the epoch.",
    ),
    keyGeneration: gauge("firebolt_instance_signing_key_generation", "Number of signing keys created so far."),
    keys: gauge("firebolt_instance_signing_keys", "Signing keys by phase.", "phase"),
    pendingStep: gauge(
      "firebolt_instance_signing_key_rotation_pending_step",
      "1 for the step of a key rotation that waits for the engines, 0 for the others.",
      "step",
    ),
    pendingSeconds: gauge(
      "firebolt_instance_signing_key_rotation_pending_seconds",
      "How long that step has been waiting; 0 when none is.",
    ),
    laggingEngines: gauge(
      "firebolt_instance_signing_key_rotation_lagging_engines",
      "Number of engines that the step waits for.",
    ),
  };
}

export function createInstanceRecorder(registry: Registry | undefined): InstanceMetrics {
  if (registry === undefined) return noInstanceMetrics;
  const families = instanceFamilies(registry);
  const instances = new Map<string, ObjectSeries>();
  return {
    passEnded(record) {
      const key = formatKey(record.instance);
      const series = instances.get(key) ?? new ObjectSeries();
      instances.set(key, series);
      showPass(families, series, record);
    },
    removed(instance) {
      instances.get(formatKey(instance))?.drop();
      instances.delete(formatKey(instance));
    },
  };
}

function showPass(families: InstanceFamilies, series: ObjectSeries, record: InstancePassRecord): void {
  const { status, id, postgresMode } = record;
  const { namespace, name } = record.instance;
  const identity: Labels = { namespace, name };
  const conditions = status?.conditions;
  series.show(families.phase, oneOfRows(identity, "phase", INSTANCE_PHASES, status?.phase));
  series.show(families.condition, conditionRows(identity, CONDITIONS, conditions));
  series.show(families.reason, reasonRows(identity, CONDITIONS, conditions));
  series.show(families.info, [[{ ...identity, id, postgres_mode: postgresMode }, 1]]);
  series.show(
    families.stuck,
    COMPONENTS.map((component) => [{ ...identity, component }, record.stuck.includes(component) ? 1 : 0]),
  );
  if (record.succeeded) series.show(families.lastReconciled, [[identity, record.nowMs / 1000]]);
  showKeys(families, series, { identity, auth: status?.auth, nowMs: record.nowMs });
}

interface KeyState {
  readonly identity: Labels;
  readonly auth: AuthStatus;
  readonly nowMs: number;
}

function showKeys(families: InstanceFamilies, series: ObjectSeries, { identity, auth, nowMs }: KeyState): void {
  const step = auth?.pendingRotationStep;
  const keysIn = (phase: string) => (auth?.signingKeys ?? []).filter((key) => key.phase === phase).length;
  series.show(families.keyGeneration, [[identity, auth?.signingKeyGeneration ?? 0]]);
  series.show(
    families.keys,
    SIGNING_KEY_PHASES.map((phase) => [{ ...identity, phase }, keysIn(phase)]),
  );
  series.show(families.pendingStep, oneOfRows(identity, "step", ROTATION_STEPS, step));
  series.show(families.pendingSeconds, [[identity, step === undefined ? 0 : secondsSince(auth?.pendingSince, nowMs)]]);
  series.show(families.laggingEngines, [[identity, auth?.laggingEngineCount ?? 0]]);
}

/** A time that cannot be parsed, or is in the future, has no age. */
function secondsSince(time: string | undefined, nowMs: number): number {
  const sinceMs = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(sinceMs) ? 0 : Math.max(0, (nowMs - sinceMs) / 1000);
}
