// Records what the engine's reconciler tells (operations §2.2, §2.6). Keeps, per engine, its series and when its rollout began;
// nothing of that outlives the process or the engine.
import type { Registry } from "prom-client";
import { ENGINE_PHASES } from "../api/phases.ts";
import { type EngineMetrics, type EnginePassRecord, noEngineMetrics } from "../engine/metrics-hooks.ts";
import type { EngineKey } from "../engine/world.ts";
import type { Clock } from "../kube/clock.ts";
import { keyText } from "../kube/object.ts";
import { type EngineFamilies, engineFamilies } from "./engine-families.ts";
import { type Labels, ObjectSeries } from "./object-series.ts";
import { conditionRows, oneOfRows, reasonRows } from "./status-rows.ts";

const CONDITIONS = ["Ready", "InstanceReady"] as const;
const NO_GENERATION = -1;

/** A new engine's first pass is counted before anybody has said which instance it belongs to. */
type Counting = (identity: Labels, series: ObjectSeries) => void;

interface Recorded {
  readonly series: ObjectSeries;
  instance: string | undefined;
  readonly waiting: Counting[];
  rolloutStartedMs: number | undefined;
}

export function createEngineRecorder(registry: Registry | undefined, clock: Clock): EngineMetrics {
  if (registry === undefined) return noEngineMetrics;
  const families = engineFamilies(registry);
  const engines = new Map<string, Recorded>();

  const recordedOf = (engine: EngineKey): Recorded => {
    const key = keyText(engine);
    const known = engines.get(key);
    if (known !== undefined) return known;
    const recorded = { series: new ObjectSeries(), instance: undefined, waiting: [], rolloutStartedMs: undefined };
    engines.set(key, recorded);
    return recorded;
  };
  const count = (engine: EngineKey, counting: Counting): void => {
    const { instance, series, waiting } = recordedOf(engine);
    if (instance === undefined) waiting.push(counting);
    else counting(identityOf(engine, instance), series);
  };

  return {
    passEnded(record) {
      const recorded = recordedOf(record.engine);
      const { series, waiting } = recorded;
      // Series of the same engine under two instances would count it twice.
      if (recorded.instance !== undefined && recorded.instance !== record.instance) series.drop();
      recorded.instance = record.instance;
      const identity = identityOf(record.engine, record.instance);
      for (const counting of waiting.splice(0)) counting(identity, series);
      showPass(families, series, identity, record);
    },
    phaseChanged: (engine, from, to) =>
      count(engine, (identity, series) => series.count(families.transitions, { ...identity, from, to })),
    rollout(engine, step) {
      const recorded = recordedOf(engine);
      const startedMs = recorded.rolloutStartedMs;
      recorded.rolloutStartedMs = step === "started" ? clock.monotonicMs() : undefined;
      // A rollout that began before this process did has no known length.
      if (step === "started" || startedMs === undefined) return;
      const seconds = (clock.monotonicMs() - startedMs) / 1000;
      count(engine, (identity, series) =>
        series.observe(families.rolloutSeconds, { ...identity, outcome: step }, seconds),
      );
    },
    drainCheckFailed: (engine) =>
      count(engine, (identity, series) => series.count(families.drainCheckErrors, identity)),
    scaled: (engine, direction, reason) =>
      count(engine, (identity, series) => series.count(families.scales, { ...identity, direction, reason })),
    orphanDeleted: (engine, kind) =>
      count(engine, (identity, series) => series.count(families.orphanDeletes, { ...identity, kind })),
    removed(engine) {
      engines.get(keyText(engine))?.series.drop();
      engines.delete(keyText(engine));
    },
  };
}

const identityOf = ({ namespace, name }: EngineKey, instance: string): Labels => ({ namespace, name, instance });

function showPass(families: EngineFamilies, series: ObjectSeries, identity: Labels, record: EnginePassRecord): void {
  const { status, pods } = record;
  const conditions = status?.conditions;
  series.show(families.phase, oneOfRows(identity, "phase", ENGINE_PHASES, status?.phase));
  series.show(families.condition, conditionRows(identity, CONDITIONS, conditions));
  series.show(families.reason, reasonRows(identity, CONDITIONS, conditions));
  series.show(families.replicas, [[identity, record.replicas]]);
  series.show(families.currentGeneration, [[identity, status?.currentGeneration ?? 0]]);
  series.show(families.activeGeneration, [[identity, status?.activeGeneration ?? NO_GENERATION]]);
  series.show(families.drainingGeneration, [[identity, status?.drainingGeneration ?? NO_GENERATION]]);
  // Not having seen the pods is not having seen none: the last numbers stay.
  if (pods !== undefined) {
    series.show(families.podsReady, [[identity, pods.ready]]);
    series.show(families.podsTotal, [[identity, pods.total]]);
  }
  if (record.succeeded) series.show(families.lastReconciled, [[identity, record.nowMs / 1000]]);
  series.count(families.drainCheckErrors, identity, 0);
}
