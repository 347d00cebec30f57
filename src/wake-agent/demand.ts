// The demand that the agent has seen: engines that were requested while they could not serve, and when. Bounded in
// names and in time. The endpoint /demand exposes it; it decides nothing.
import type { Clock } from "@firebolt-operator/kube";

export interface DemandOptions {
  readonly clock: Clock;
  /** How long a row is kept after the last request. */
  readonly retentionMs: number;
  /** Held requests per engine: a row is kept while there are any. */
  readonly parked: (engine: string) => number;
  readonly mostNames?: number;
  readonly mostBytes?: number;
}

export interface DemandRow {
  readonly engine: string;
  readonly lastMs: number;
  readonly parked: number;
  readonly shed: number;
}

const MOST_NAMES = 4096;
/** Readers accept at most one mebibyte: with more names than fit, they would read none. */
const MOST_BYTES = 1_000_000;

export class Demand {
  readonly #options: DemandOptions;
  readonly #rows = new Map<string, { lastMs: number; shed: number }>();
  #bytes = 0;
  #dropped = 0;

  constructor(options: DemandOptions) {
    this.#options = options;
  }

  /**
   * A request arrived for an engine that cannot serve. Recorded before the request can be rejected: it is demand all
   * the same.
   */
  record(engine: string): void {
    const lastMs = this.#options.clock.now();
    const row = this.#rows.get(engine);
    if (row !== undefined) row.lastMs = lastMs;
    else if (this.#hasRoomFor(engine)) this.#add(engine, lastMs);
    else this.#dropped++;
  }

  shed(engine: string): void {
    const row = this.#rows.get(engine);
    if (row !== undefined) row.shed++;
  }

  rows(): readonly DemandRow[] {
    this.#forgetOld();
    return [...this.#rows].map(([engine, { lastMs, shed }]) => ({
      engine,
      lastMs,
      shed,
      parked: this.#options.parked(engine),
    }));
  }

  /** Requests that were not recorded because there were too many names. */
  get dropped(): number {
    return this.#dropped;
  }

  #hasRoomFor(engine: string): boolean {
    const { mostNames = MOST_NAMES, mostBytes = MOST_BYTES } = this.#options;
    const fits = (): boolean => this.#rows.size < mostNames && this.#bytes + bytesOf(engine) <= mostBytes;
    if (!fits()) this.#forgetOld();
    return fits();
  }

  #add(engine: string, lastMs: number): void {
    this.#rows.set(engine, { lastMs, shed: 0 });
    this.#bytes += bytesOf(engine);
  }

  #forgetOld(): void {
    const { clock, retentionMs, parked } = this.#options;
    const oldest = clock.now() - retentionMs;
    for (const [engine, { lastMs }] of this.#rows)
      if (lastMs < oldest && parked(engine) === 0 && this.#rows.delete(engine)) this.#bytes -= bytesOf(engine);
  }
}

/** Failed requests of the agent to the API server, by purpose. */
export interface ApiErrors {
  /** Wake requests that could not be written: the engines are not woken. */
  readonly write: number;
  /** Lists and watches: the agent does not know which engines exist. */
  readonly watch: number;
}

export interface DemandPage {
  readonly rows: readonly DemandRow[];
  readonly dropped: number;
  readonly apiErrors: ApiErrors;
}

/** The response of /demand in the Prometheus text format. Names of engines are DNS labels and need no escaping. */
export function renderDemandPage({ rows, dropped, apiErrors }: DemandPage): string {
  const per = (name: string, type: string, help: string, value: (row: DemandRow) => number): readonly string[] => [
    `# HELP ${PREFIX}${name} ${help}`,
    `# TYPE ${PREFIX}${name} ${type}`,
    ...rows.map((row) => `${PREFIX}${name}{engine="${row.engine}"} ${value(row)}`),
  ];
  return [
    ...per(
      "last_demand_timestamp_seconds",
      "gauge",
      "When the last request found no ready endpoint.",
      ({ lastMs }) => lastMs / 1_000,
    ),
    ...per("pending_holds", "gauge", "Requests parked now.", ({ parked }) => parked),
    ...per("shed_total", "counter", "Requests refused for capacity.", ({ shed }) => shed),
    `# HELP ${PREFIX}demand_dropped_total Requests for more engines than are remembered.`,
    `# TYPE ${PREFIX}demand_dropped_total counter`,
    `${PREFIX}demand_dropped_total ${dropped}`,
    `# HELP ${PREFIX}api_errors_total Requests of the wake agent to the API server that failed.`,
    `# TYPE ${PREFIX}api_errors_total counter`,
    `${PREFIX}api_errors_total{operation="write"} ${apiErrors.write}`,
    `${PREFIX}api_errors_total{operation="watch"} ${apiErrors.watch}`,
    "",
  ].join("\n");
}

const PREFIX = "firebolt_gateway_wake_";

/** The most that one engine adds to the response: three lines, with space for long numbers. */
function bytesOf(engine: string): number {
  return 3 * engine.length + 190;
}
