// Metrics of the class reconciler (docs/monitoring.md#instance-and-class-metrics). Keeps the series of each
// class and nothing else.
import { formatKey } from "@firebolt-operator/kube";
import type { Registry } from "prom-client";
import { type EngineClassMetrics, noEngineClassMetrics } from "../engineclass/metrics-hooks.ts";
import { familiesOf } from "./families.ts";
import { ObjectSeries } from "./object-series.ts";
import { conditionRows } from "./status-rows.ts";

const CONDITIONS = ["Ready"] as const;

export function createEngineClassRecorder(registry: Registry | undefined): EngineClassMetrics {
  if (registry === undefined) return noEngineClassMetrics;
  const { gauge } = familiesOf(registry, ["namespace", "name"]);
  const bound = gauge("firebolt_engineclass_bound_engines", "Number of engines that refer to the class.");
  const condition = gauge("firebolt_engineclass_status_condition", "1 when the condition is True, else 0.", "type");
  const classes = new Map<string, ObjectSeries>();
  return {
    passEnded({ engineClass, status }) {
      const key = formatKey(engineClass);
      const series = classes.get(key) ?? new ObjectSeries();
      classes.set(key, series);
      const identity = { namespace: engineClass.namespace, name: engineClass.name };
      series.show(bound, [[identity, status.boundEngines ?? 0]]);
      series.show(condition, conditionRows(identity, CONDITIONS, status.conditions));
    },
    removed(engineClass) {
      classes.get(formatKey(engineClass))?.drop();
      classes.delete(formatKey(engineClass));
    },
  };
}
