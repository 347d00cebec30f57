// Metrics of the engine reconciler (docs/monitoring.md#engine-metrics): per engine its last pass, its counts and
// the start of its rollout. Nothing outlives the process or the engine; series are computed at scrape time.
import { type Clock, formatKey } from "@firebolt-operator/kube";
import type { Registry } from "prom-client";
import type { EngineKey } from "../engine/cluster/engine-cluster.ts";
import { type EngineMetrics, type EnginePassRecord, noEngineMetrics } from "../engine/metrics-hooks.ts";
import { type BucketTally, newTally, type Observed, tallyValue } from "./computed-families.ts";
import {
  declareEngineFamilies,
  type EngineCount,
  type EngineCounter,
  identityOf,
  ROLLOUT_SECONDS,
  type ShownEngine,
} from "./engine-families.ts";

interface Recorded {
  /** Undefined before the first pass: until then the instance of the engine is unknown. */
  shown: ShownEngine | undefined;
  /** By the label values of the counter, joined. */
  readonly counts: Map<EngineCounter, Map<string, number>>;
  /** By outcome. */
  readonly rollouts: Map<string, BucketTally>;
  rolloutStartedMs: number | undefined;
}

/** Occurs in no label: phases, kinds and reasons are words. */
const SEPARATOR = "\n";

export function createEngineRecorder(registry: Registry | undefined, clock: Clock): EngineMetrics {
  if (registry === undefined) return noEngineMetrics;
  const engines = new Map<string, Recorded>();
  declareEngineFamilies(registry, {
    shown: () => [...engines.values()].flatMap(({ shown }) => (shown === undefined ? [] : [shown])),
    counts: (counter) => [...engines.values()].flatMap((recorded) => countsOf(recorded, counter)),
    rollouts: () => [...engines.values()].flatMap(rolloutsOf),
  });

  const recordedOf = (engine: EngineKey): Recorded => {
    const key = formatKey(engine);
    const known = engines.get(key);
    if (known !== undefined) return known;
    const recorded: Recorded = {
      shown: undefined,
      counts: new Map(),
      rollouts: new Map(),
      rolloutStartedMs: undefined,
    };
    engines.set(key, recorded);
    return recorded;
  };
  const count = (engine: EngineKey, counter: EngineCounter, ...values: readonly string[]): void => {
    const { counts } = recordedOf(engine);
    const rows = counts.get(counter) ?? new Map<string, number>();
    counts.set(counter, rows);
    const id = values.join(SEPARATOR);
    rows.set(id, (rows.get(id) ?? 0) + 1);
  };

  return {
    passEnded(record) {
      const recorded = recordedOf(record.engine);
      const { shown: before, counts, rollouts } = recorded;
      const moved = before !== undefined && before.instance !== record.instance;
      // Series of the same engine under two instances would count it twice.
      if (moved) {
        counts.clear();
        rollouts.clear();
      }
      recorded.shown = shownBy(record, moved ? undefined : before);
    },
    phaseChanged: (engine, from, to) => count(engine, "transitions", from, to),
    rollout(engine, step) {
      const recorded = recordedOf(engine);
      const startedMs = recorded.rolloutStartedMs;
      recorded.rolloutStartedMs = step === "started" ? clock.monotonicMs() : undefined;
      // The duration of a rollout that began before this process is unknown.
      if (step === "started" || startedMs === undefined) return;
      const tally = recorded.rollouts.get(step) ?? newTally(ROLLOUT_SECONDS);
      recorded.rollouts.set(step, tally);
      tallyValue(tally, ROLLOUT_SECONDS, (clock.monotonicMs() - startedMs) / 1000);
    },
    drainCheckFailed: (engine) => count(engine, "drainCheckErrors"),
    scaled: (engine, direction, reason) => count(engine, "scales", direction, reason),
    orphanDeleted: (engine, kind) => count(engine, "orphanDeletes", kind),
    removed(engine) {
      engines.delete(formatKey(engine));
    },
  };
}

/** Pods that were not observed are not zero pods: the last numbers stay. */
function shownBy(record: EnginePassRecord, before: ShownEngine | undefined): ShownEngine {
  const { engine, instance, status, replicas, pods = before?.pods, succeeded, nowMs } = record;
  return {
    engine,
    instance,
    status,
    replicas,
    pods,
    lastReconciledMs: succeeded ? nowMs : before?.lastReconciledMs,
  };
}

function countsOf({ shown, counts }: Recorded, counter: EngineCounter): readonly EngineCount[] {
  if (shown === undefined) return [];
  const rows = [...(counts.get(counter) ?? [])].map(([id, count]) => ({
    shown,
    values: id === "" ? [] : id.split(SEPARATOR),
    count,
  }));
  // Zero from the start, so that `increase()` counts the first event.
  return rows.length === 0 && counter === "drainCheckErrors" ? [{ shown, values: [], count: 0 }] : rows;
}

function rolloutsOf({ shown, rollouts }: Recorded): readonly Observed[] {
  if (shown === undefined) return [];
  return [...rollouts].map(([outcome, tally]) => ({ labels: { ...identityOf(shown), outcome }, tally }));
}
