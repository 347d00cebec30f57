// All series of one object, so that they can be deleted together with it. Recorders write through this: a series
// written past it would never be deleted.
import type { Counter, Gauge, Histogram } from "prom-client";

export type Labels = Readonly<Record<string, string>>;
export type Row = readonly [labels: Labels, value: number];
type Family = Counter | Gauge | Histogram;

export class ObjectSeries {
  readonly #written = new Map<Family, Map<string, Labels>>();

  /** Replaces the rows of the gauge: earlier rows that are not among these are deleted. */
  show(gauge: Gauge, rows: readonly Row[]): void {
    const stale = new Map(this.#of(gauge));
    for (const [labels, value] of rows) {
      gauge.set(labels, value);
      stale.delete(this.#remember(gauge, labels));
    }
    for (const [id, labels] of stale) {
      gauge.remove(labels);
      this.#of(gauge).delete(id);
    }
  }

  /** Zero creates the series, so that `increase()` counts the first event. */
  count(counter: Counter, labels: Labels, by = 1): void {
    counter.inc(labels, by);
    this.#remember(counter, labels);
  }

  observe(histogram: Histogram, labels: Labels, value: number): void {
    histogram.observe(labels, value);
    this.#remember(histogram, labels);
  }

  drop(): void {
    for (const [family, rows] of this.#written) for (const labels of rows.values()) family.remove(labels);
    this.#written.clear();
  }

  #of(family: Family): Map<string, Labels> {
    const known = this.#written.get(family);
    if (known !== undefined) return known;
    const rows = new Map<string, Labels>();
    this.#written.set(family, rows);
    return rows;
  }

  #remember(family: Family, labels: Labels): string {
    const id = JSON.stringify(Object.values(labels));
    this.#of(family).set(id, labels);
    return id;
  }
}
