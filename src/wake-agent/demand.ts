// The demand that the agent has seen: engines that were requested while they could not serve, and when. Bounded in
// names and in time. The endpoint /demand exposes it; it decides nothing.
import type { Clock } from "@firebolt-operator/kube";
import { type DemandRow, WAKE_SERIES } from "../api/wake-protocol.ts";

export interface DemandOptions {
  readonly clock: Clock;
  /** How long a row is kept after the last request. */
  readonly retentionMs: number;
  /** Held requests per engine: a row is kept while there are any. */
  readonly heldCount: (engine: string) => number;
  readonly mostNames?: number;
  readonly mostBytes?: number;
}

const MOST_NAMES = 4096;
/** Readers accept at most one mebibyte: with more names than fit, they would read none. */
const MOST_BYTES = 1_000_000;

export class Demand {
  readonly #options: DemandOptions;
  readonly #rows = new Map<string, { lastRequestMs: number; shed: number }>();
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
    const lastRequestMs = this.#options.clock.now();
    const row = this.#rows.get(engine);
    if (row !== undefined) row.lastRequestMs = lastRequestMs;
    else if (this.#hasRoomFor(engine)) this.#add(engine, lastRequestMs);
    else this.#dropped++;
  }

  shed(engine: string): void {
    const row = this.#rows.get(engine);
    if (row !== undefined) row.shed++;
  }

  rows(): readonly DemandRow[] {
    this.#forgetOld();
    return [...this.#rows].map(([engine, { lastRequestMs, shed }]) => ({
      engine,
      stampMs: lastRequestMs,
      shed,
      holds: this.#options.heldCount(engine),
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

  #add(engine: string, lastRequestMs: number): void {
    this.#rows.set(engine, { lastRequestMs, shed: 0 });
    this.#bytes += bytesOf(engine);
  }

  #forgetOld(): void {
    const { clock, retentionMs, heldCount } = this.#options;
    const oldest = clock.now() - retentionMs;
    for (const [engine, { lastRequestMs }] of this.#rows)
      if (lastRequestMs < oldest && heldCount(engine) === 0 && this.#rows.delete(engine))
        this.#bytes -= bytesOf(engine);
  }
}

/** Failed requests of the agent to the API server, by purpose. */
export interface ApiErrors {
  /** Wake requests that could not be written: the engines are not woken. */
  readonly write: number;
  /** Lists and watches: the agent does not know which engines exist. */
  readonly watch: number;
}

export interface DemandResponse {
  readonly rows: readonly DemandRow[];
  readonly dropped: number;
  readonly apiErrors: ApiErrors;
}

/** The response of /demand in the Prometheus text format. Names of engines are DNS labels and need no escaping. */
export function renderDemand({ rows, dropped, apiErrors }: DemandResponse): string {
  const per = (name: string, type: string, help: string, value: (row: DemandRow) => number): readonly string[] => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...rows.map((row) => `${name}{engine="${row.engine}"} ${value(row)}`),
  ];
  return [
    ...per(
      WAKE_SERIES.lastDemand,
      "gauge",
      "Time of the last request that found no ready endpoint, in seconds since the epoch.",
      ({ stampMs }) => stampMs / 1_000,
    ),
    ...per(WAKE_SERIES.pendingHolds, "gauge", "Requests that are currently held.", ({ holds }) => holds),
    ...per(WAKE_SERIES.shed, "counter", "Requests rejected because the hold queue was full.", ({ shed }) => shed),
    `# HELP ${WAKE_SERIES.dropped} Requests dropped because too many engine names were requested.`,
    `# TYPE ${WAKE_SERIES.dropped} counter`,
    `${WAKE_SERIES.dropped} ${dropped}`,
    `# HELP ${WAKE_SERIES.apiErrors} Requests of the wake agent to the API server that failed.`,
    `# TYPE ${WAKE_SERIES.apiErrors} counter`,
    `${WAKE_SERIES.apiErrors}{operation="write"} ${apiErrors.write}`,
    `${WAKE_SERIES.apiErrors}{operation="watch"} ${apiErrors.watch}`,
    "",
  ].join("\n");
}

/** The most that one engine adds to the response: three lines, with space for long numbers. */
function bytesOf(engine: string): number {
  return 3 * engine.length + 190;
}
