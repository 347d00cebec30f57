// Declares metric families whose first labels identify the object, in the documented order. The recorders write and
// delete the series.
import { Counter, Gauge, type Registry } from "prom-client";
import { ComputedCounter, ComputedGauge, ComputedHistogram, type Observed, type Rows } from "./computed-families.ts";

export interface Families {
  gauge(name: string, help: string, ...extraLabels: readonly string[]): Gauge;
  counter(name: string, help: string, ...extraLabels: readonly string[]): Counter;
  computedGauge(shape: FamilyShape, rows: Rows): void;
  computedCounter(shape: FamilyShape, rows: Rows): void;
  computedHistogram(
    shape: FamilyShape & { readonly buckets: readonly number[] },
    observed: () => readonly Observed[],
  ): void;
}

export interface FamilyShape {
  readonly name: string;
  readonly help: string;
  /** After the identity labels. */
  readonly labels: readonly string[];
}

export function familiesOf(registry: Registry, identityLabels: readonly string[]): Families {
  const registers = [registry];
  const labelled = (extra: readonly string[]) => ({ registers, labelNames: [...identityLabels, ...extra] });
  return {
    gauge: (name, help, ...extra) => new Gauge({ name, help, ...labelled(extra) }),
    counter: (name, help, ...extra) => new Counter({ name, help, ...labelled(extra) }),
    // Registered with the registry, which collects their rows at scrape time.
    computedGauge: ({ name, help, labels }, rows) => void new ComputedGauge({ name, help, ...labelled(labels) }, rows),
    computedCounter: ({ name, help, labels }, rows) =>
      void new ComputedCounter({ name, help, ...labelled(labels) }, rows),
    computedHistogram: ({ name, help, labels, buckets }, observed) =>
      void new ComputedHistogram({ name, help, buckets: [...buckets], ...labelled(labels) }, observed),
  };
}
