// Metric families whose rows are computed at scrape time. A fleet has dozens of series per engine: stored as series
// they would cost time in every pass and more memory than the engines themselves. Declares no metric and knows no
// engine.
import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
} from "prom-client";
import type { Labels, Row } from "./object-series.ts";

export type Rows = () => readonly Row[];

export class ComputedGauge extends Gauge {
  readonly #rows: Rows;

  constructor(configuration: GaugeConfiguration<string>, rows: Rows) {
    super(configuration);
    this.#rows = rows;
  }

  override async get() {
    return { ...(await super.get()), values: this.#rows().map(sample) };
  }
}

/** For counts that the caller keeps. */
export class ComputedCounter extends Counter {
  readonly #rows: Rows;

  constructor(configuration: CounterConfiguration<string>, rows: Rows) {
    super(configuration);
    this.#rows = rows;
  }

  override async get() {
    return { ...(await super.get()), values: this.#rows().map(sample) };
  }
}

/** The observations of one set of labels. */
export interface Observed {
  readonly labels: Labels;
  readonly tally: BucketTally;
}

/** Observations per bucket, in the order of the bounds; each counts once. */
export interface BucketTally {
  readonly within: number[];
  count: number;
  sum: number;
}

export const newTally = (bounds: readonly number[]): BucketTally => ({
  within: bounds.map(() => 0),
  count: 0,
  sum: 0,
});

export function tallyValue(tally: BucketTally, bounds: readonly number[], value: number): void {
  const bucket = bounds.findIndex((bound) => value <= bound);
  if (bucket >= 0) tally.within[bucket] = (tally.within[bucket] ?? 0) + 1;
  tally.count += 1;
  tally.sum += value;
}

export interface HistogramFamily extends HistogramConfiguration<string> {
  readonly buckets: number[];
}

/** For observations that the caller keeps. */
export class ComputedHistogram extends Histogram {
  readonly #family: HistogramFamily;
  readonly #observed: () => readonly Observed[];

  constructor(family: HistogramFamily, observed: () => readonly Observed[]) {
    super(family);
    this.#family = family;
    this.#observed = observed;
  }

  /** The library renders every format from this. */
  async getForPromString() {
    const { name, help } = this.#family;
    const values = this.#observed().flatMap((one) => this.#samples(one));
    return { name, help, type: "histogram", aggregator: "sum", values };
  }

  #samples({ labels, tally: { within, count, sum } }: Observed) {
    const { name, buckets } = this.#family;
    let below = 0;
    const bounded = buckets.map((bound, index) => {
      below += within[index] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le: bound, ...labels }, value: below };
    });
    return [
      ...bounded,
      { metricName: `${name}_bucket`, labels: { le: "+Inf", ...labels }, value: count },
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

const sample = ([labels, value]: Row) => ({ labels, value });
