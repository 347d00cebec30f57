// The accounting of a load: every request is in flight, succeeded, or failed with all that is known about it. Opens no
// connection and reads no clock.

export type QueryType = "short" | "long";

/** One failed request. */
export interface Failure {
  /** In the request's path, and so in the gateway's access log. */
  readonly id: string;
  readonly engine: string;
  readonly type: QueryType;
  readonly connection: "new" | "kept";
  /** What the test was doing when the request was sent, and when it failed. */
  readonly sentIn: string;
  readonly failedIn: string;
  readonly at: string;
  readonly durationMs: number;
  /** Undefined without a response. */
  readonly status: number | undefined;
  /** The cause: the error of the connection, or the beginning of the response. */
  readonly why: string;
  /** The line of the gateway's access log, once it has been looked up. */
  readonly accessLog?: string;
}

export interface LoadFigures {
  readonly sent: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly long: number;
  readonly newConnections: number;
  readonly durationMs: number;
  readonly perSecond: number;
  readonly shortP50Ms: number;
  readonly shortP99Ms: number;
  readonly shortMaxMs: number;
  /** The longest that a short query took, phase by phase. */
  readonly shortMaxMsByPhase: string;
  /** The largest delay of a long query beyond its requested duration. */
  readonly longMaxLateMs: number;
  /** Most requests on their way at one moment. */
  readonly mostAtOnce: number;
}

/** One request that succeeded. */
export interface Success {
  readonly type: QueryType;
  readonly tookMs: number;
  /** How long the query had to take. */
  readonly wantedMs: number;
  readonly sentIn: string;
}

export class LoadTally {
  readonly failures: Failure[] = [];
  sent = 0;
  succeeded = 0;
  long = 0;
  newConnections = 0;
  #mostAtOnce = 0;
  #longMaxLateMs = 0;
  readonly #shortMs: number[] = [];
  readonly #slowest = new Map<string, number>();

  get onTheirWay(): number {
    return this.sent - this.succeeded - this.failures.length;
  }

  send(type: QueryType, connection: "new" | "kept"): void {
    this.sent += 1;
    if (type === "long") this.long += 1;
    if (connection === "new") this.newConnections += 1;
    this.#mostAtOnce = Math.max(this.#mostAtOnce, this.onTheirWay);
  }

  succeed({ type, tookMs, wantedMs, sentIn }: Success): void {
    this.succeeded += 1;
    if (type === "long") {
      this.#longMaxLateMs = Math.max(this.#longMaxLateMs, tookMs - wantedMs);
      return;
    }
    this.#shortMs.push(tookMs);
    this.#slowest.set(sentIn, Math.max(this.#slowest.get(sentIn) ?? 0, tookMs));
  }

  fail(failure: Failure): void {
    this.failures.push(failure);
  }

  figures(durationMs: number): LoadFigures {
    const sorted = this.#shortMs.toSorted((a, b) => a - b);
    const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
    return {
      sent: this.sent,
      succeeded: this.succeeded,
      failed: this.failures.length,
      long: this.long,
      newConnections: this.newConnections,
      durationMs: Math.round(durationMs),
      perSecond: Math.round((this.sent / durationMs) * 10_000) / 10,
      shortP50Ms: at(0.5),
      shortP99Ms: at(0.99),
      shortMaxMs: at(1),
      shortMaxMsByPhase: [...this.#slowest].map(([phase, ms]) => `${phase}: ${Math.round(ms)}`).join("; "),
      longMaxLateMs: Math.round(this.#longMaxLateMs),
      mostAtOnce: this.#mostAtOnce,
    };
  }
}

/** One line per failure, the first twenty of them. */
export function describeFailures(failures: readonly Failure[]): string {
  const lines = failures.slice(0, 20).map((failure) => {
    const { id, engine, type, connection, sentIn, failedIn, at, durationMs, status, why, accessLog } = failure;
    const phase = sentIn === failedIn ? sentIn : `${sentIn} → ${failedIn}`;
    const how = `${type}, ${connection} connection, ${Math.round(durationMs)} ms`;
    return `${at} ${id} ${engine} [${phase}] ${how}: ${status ?? "no response"} ${why}\n    ${accessLog ?? "(not in any access log)"}`;
  });
  return `${failures.length} requests failed\n${lines.join("\n")}`;
}
