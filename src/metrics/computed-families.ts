// Families whose rows are worked out when the page is read. A fleet has dozens of series per engine: kept as series they would cost
// every pass time and the process more memory than the engines themselves. Declares nothing and knows no engine.
import { Counter, type CounterConfiguration, Gauge, type GaugeConfiguration } from "prom-client";
import type { Row } from "./object-series.ts";

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

/** For counts that somebody else keeps. */
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

const sample = ([labels, value]: Row) => ({ labels, value });
