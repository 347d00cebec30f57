// The families of the engine series (docs/monitoring.md#engine-metrics): names, help and labels, and the rows of
// an engine in each. Pure apart from the declaration; the state of the engines is in engine-recorder.ts.
import type { Registry } from "prom-client";
import { ENGINE_PHASES } from "../api/phases.ts";
import type { EnginePassRecord } from "../engine/metrics-hooks.ts";
import type { Observed } from "./computed-families.ts";
import { type FamilyShape, familiesOf } from "./families.ts";
import type { Labels, Row } from "./object-series.ts";
import { conditionRows, oneOfRows, reasonRows } from "./status-rows.ts";

/** Five seconds to an hour. Every bucket is one more series per engine and outcome, so they are few. */
export const ROLLOUT_SECONDS = [5, 15, 30, 60, 120, 300, 600, 1800, 3600];
const CONDITIONS = ["Ready", "InstanceReady"] as const;
const NO_GENERATION = -1;

/** The record of the last pass. Numbers that it could not observe keep their earlier values. */
export type ShownEngine = Pick<EnginePassRecord, "engine" | "instance" | "status" | "replicas" | "pods"> & {
  readonly lastReconciledMs: number | undefined;
};

/** Counters by field name; their label values in the order of the declaration. */
const COUNTERS = {
  drainCheckErrors: ["firebolt_engine_drain_check_errors_total", "Reconciles in which a drain probe failed.", []],
  transitions: ["firebolt_engine_phase_transitions_total", "Phase transitions.", ["from", "to"]],
  scales: [
    "firebolt_engine_autostop_scale_total",
    "Times that auto-stop changed the number of replicas.",
    ["direction", "reason"],
  ],
  orphanDeletes: ["firebolt_engine_orphan_deletes_total", "Orphaned objects that were deleted.", ["kind"]],
} as const satisfies Record<string, readonly [name: string, help: string, labels: readonly string[]]>;

export type EngineCounter = keyof typeof COUNTERS;

/** One counter of one engine, with its label values. */
export interface EngineCount {
  readonly shown: ShownEngine;
  readonly values: readonly string[];
  readonly count: number;
}

export interface EngineSource {
  shown(): readonly ShownEngine[];
  rollouts(): readonly Observed[];
  counts(counter: EngineCounter): readonly EngineCount[];
}

export const identityOf = ({ engine, instance }: Pick<ShownEngine, "engine" | "instance">): Labels => ({
  namespace: engine.namespace,
  name: engine.name,
  instance,
});

export function declareEngineFamilies(registry: Registry, source: EngineSource): void {
  const { computedGauge, computedCounter, computedHistogram } = familiesOf(registry, ["namespace", "name", "instance"]);
  const gauge = (shape: FamilyShape, rowsOf: (shown: ShownEngine, identity: Labels) => readonly Row[]) =>
    computedGauge(shape, () => source.shown().flatMap((one) => rowsOf(one, identityOf(one))));
  const number = (name: string, help: string, read: (shown: ShownEngine) => number | undefined) =>
    gauge({ name, help, labels: [] }, (shown, identity) => {
      const value = read(shown);
      return value === undefined ? [] : [[identity, value]];
    });

  gauge(
    {
      name: "firebolt_engine_status_phase",
      help: "1 for the current phase of the engine, 0 for the others.",
      labels: ["phase"],
    },
    ({ status }, identity) => oneOfRows(identity, "phase", ENGINE_PHASES, status?.phase),
  );
  gauge(
    { name: "firebolt_engine_status_condition", help: "1 when the condition is True, else 0.", labels: ["type"] },
    ({ status }, identity) => conditionRows(identity, CONDITIONS, status?.conditions),
  );
  gauge(
    {
      name: "firebolt_engine_condition_reason",
      help: "1 for the current reason of the condition.",
      labels: ["type", "reason"],
    },
    ({ status }, identity) => reasonRows(identity, CONDITIONS, status?.conditions),
  );
  number("firebolt_engine_spec_replicas", "Desired number of pods.", ({ replicas }) => replicas);
  number(
    "firebolt_engine_current_generation",
    "Newest generation number.",
    ({ status }) => status?.currentGeneration ?? 0,
  );
  number(
    "firebolt_engine_active_generation",
    "Generation that serves queries; -1 before the first.",
    ({ status }) => status?.activeGeneration ?? NO_GENERATION,
  );
  number(
    "firebolt_engine_draining_generation",
    "Generation that is being drained; -1 when none.",
    ({ status }) => status?.drainingGeneration ?? NO_GENERATION,
  );
  number(
    "firebolt_engine_pods_ready",
    "Ready pods of the current generation, as of the last reconcile.",
    ({ pods }) => pods?.ready,
  );
  number(
    "firebolt_engine_pods_total",
    "Pods of the current generation, as of the last reconcile.",
    ({ pods }) => pods?.total,
  );
  number(
    "firebolt_engine_auto_stop_scrape_failing",
    "1 while auto-stop cannot determine whether queries run and therefore does not stop the engine; else 0.",
    ({ status }) => (status?.autoStopReason === "ScrapeFailed" ? 1 : 0),
  );
  number(
    "firebolt_engine_last_reconciled_timestamp",
    "Time of the last successful reconcile, in seconds since the epoch.",
    ({ lastReconciledMs }) => (lastReconciledMs === undefined ? undefined : lastReconciledMs / 1000),
  );
  for (const [counter, [name, help, labels]] of Object.entries(COUNTERS) as [EngineCounter, CounterShape][])
    computedCounter({ name, help, labels }, () =>
      source.counts(counter).map(({ shown, values, count }) => [labelled(identityOf(shown), labels, values), count]),
    );
  computedHistogram(
    {
      name: "firebolt_engine_rollout_duration_seconds",
      help: "Time from the start of a generation until the engine is stable or stopped, or until the generation is abandoned.",
      labels: ["outcome"],
      buckets: ROLLOUT_SECONDS,
    },
    () => source.rollouts(),
  );
}

type CounterShape = (typeof COUNTERS)[EngineCounter];

function labelled(identity: Labels, names: readonly string[], values: readonly string[]): Labels {
  return { ...identity, ...Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""])) };
}
