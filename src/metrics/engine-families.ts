// The families of the engine series (operations §2.2): names, help and labels. What is written to them is in engine-recorder.ts.
import type { Registry } from "prom-client";
import { familiesOf } from "./families.ts";

/** Five seconds to an hour. Every bucket is one more series per engine and outcome, so they are few. */
const ROLLOUT_SECONDS = [5, 15, 30, 60, 120, 300, 600, 1800, 3600];

export type EngineFamilies = ReturnType<typeof engineFamilies>;

export function engineFamilies(registry: Registry) {
  const { gauge, counter, histogram } = familiesOf(registry, ["namespace", "name", "instance"]);
  return {
    phase: gauge("firebolt_engine_status_phase", "1 for the phase that the engine is in, 0 for the others.", "phase"),
    condition: gauge("firebolt_engine_status_condition", "1 when the condition is True, else 0.", "type"),
    reason: gauge("firebolt_engine_condition_reason", "1 for the reason that the condition has now.", "type", "reason"),
    replicas: gauge("firebolt_engine_spec_replicas", "Pods that the engine is to have."),
    currentGeneration: gauge("firebolt_engine_current_generation", "Newest generation number."),
    activeGeneration: gauge(
      "firebolt_engine_active_generation",
      "Generation that serves queries; -1 before the first.",
    ),
    drainingGeneration: gauge("firebolt_engine_draining_generation", "Generation that is being drained; -1 when none."),
    podsReady: gauge("firebolt_engine_pods_ready", "Ready pods of the current generation, as the last pass saw them."),
    podsTotal: gauge("firebolt_engine_pods_total", "Pods of the current generation, as the last pass saw them."),
    lastReconciled: gauge(
      "firebolt_engine_last_reconciled_timestamp",
      "When the last pass without an error ended, in seconds since the epoch.",
    ),
    drainCheckErrors: counter("firebolt_engine_drain_check_errors_total", "Passes in which a drain probe failed."),
    transitions: counter("firebolt_engine_phase_transitions_total", "Changes of the phase.", "from", "to"),
    rolloutSeconds: histogram(
      "firebolt_engine_rollout_duration_seconds",
      "From the start of a generation until the engine is at rest, or until the generation is given up.",
      { extraLabels: ["outcome"], buckets: ROLLOUT_SECONDS },
    ),
    scales: counter(
      "firebolt_engine_autostop_scale_total",
      "Changes of the number of replicas by auto-stop.",
      "direction",
      "reason",
    ),
    orphanDeletes: counter("firebolt_engine_orphan_deletes_total", "Leftover objects that were deleted.", "kind"),
  };
}
