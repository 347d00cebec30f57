// Declares metric families whose first labels say which object they are about, in the order of the contract. Declares only: what is
// written and when it goes is the recorders' business.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { ComputedCounter, ComputedGauge, type Rows } from "./computed-families.ts";

export interface Families {
  gauge(name: string, help: string, ...extraLabels: readonly string[]): Gauge;
  counter(name: string, help: string, ...extraLabels: readonly string[]): Counter;
  histogram(name: string, help: string, shape: HistogramShape): Histogram;
  computedGauge(shape: FamilyShape, rows: Rows): void;
  computedCounter(shape: FamilyShape, rows: Rows): void;
}

export interface FamilyShape {
  readonly name: string;
  readonly help: string;
  /** After those of the identity. */
  readonly labels: readonly string[];
}

export interface HistogramShape {
  readonly extraLabels: readonly string[];
  readonly buckets: readonly number[];
}

export function familiesOf(registry: Registry, identityLabels: readonly string[]): Families {
  const registers = [registry];
  const labelled = (extra: readonly string[]) => ({ registers, labelNames: [...identityLabels, ...extra] });
  return {
    gauge: (name, help, ...extra) => new Gauge({ name, help, ...labelled(extra) }),
    counter: (name, help, ...extra) => new Counter({ name, help, ...labelled(extra) }),
    histogram: (name, help, { extraLabels, buckets }) =>
      new Histogram({ name, help, buckets: [...buckets], ...labelled(extraLabels) }),
    // Registered with the registry, which asks them for their rows.
    computedGauge: ({ name, help, labels }, rows) => void new ComputedGauge({ name, help, ...labelled(labels) }, rows),
    computedCounter: ({ name, help, labels }, rows) =>
      void new ComputedCounter({ name, help, ...labelled(labels) }, rows),
  };
}
