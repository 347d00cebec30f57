// The figures of `npm start -- --check` as one line of JSON, and whether they are good. Pure.
import type { Mode } from "./target.ts";

export interface CheckTimes {
  /** Seconds from the start until the API server could be used. */
  readonly controlPlaneSeconds: number;
  /** … until the operator was ready. */
  readonly operatorSeconds: number;
  /** … until instance and engines were. */
  readonly readySeconds: number;
}

export interface SentQuery {
  readonly durationMs: number;
  /** Why it counts as failed. */
  readonly failure?: string;
}

export interface CheckReport extends CheckTimes {
  readonly ok: boolean;
  readonly mode: Mode;
  /** Why the pods are simulated. */
  readonly fallback?: string;
  readonly queriesSent: number;
  readonly queriesFailed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly teardownSeconds: number;
  readonly totalSeconds: number;
  /** What went wrong, if anything. */
  readonly failures: readonly string[];
}

export interface CheckFacts {
  readonly mode: Mode;
  readonly fallback: string | undefined;
  readonly times: Partial<CheckTimes>;
  readonly queries: readonly SentQuery[];
  readonly wantedQueries: number;
  readonly teardownSeconds: number;
  readonly totalSeconds: number;
  readonly failures: readonly string[];
}

const MISSING = -1;

export function renderReport(facts: CheckFacts): CheckReport {
  const { times, queries, wantedQueries } = facts;
  const failed = queries.flatMap(({ failure }) => failure ?? []);
  const durations = queries.map(({ durationMs }) => durationMs);
  const failures = [...facts.failures, ...new Set(failed)];
  return {
    ok: failures.length === 0 && queries.length === wantedQueries,
    mode: facts.mode,
    ...(facts.fallback === undefined ? {} : { fallback: facts.fallback }),
    controlPlaneSeconds: round(times.controlPlaneSeconds ?? MISSING),
    operatorSeconds: round(times.operatorSeconds ?? MISSING),
    readySeconds: round(times.readySeconds ?? MISSING),
    queriesSent: queries.length,
    queriesFailed: failed.length,
    p50Ms: round(percentile(durations, 50)),
    p99Ms: round(percentile(durations, 99)),
    teardownSeconds: round(facts.teardownSeconds),
    totalSeconds: round(facts.totalSeconds),
    failures,
  };
}

/** The smallest value that at least this percentage does not exceed; -1 for an empty list. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? MISSING;
}

const round = (value: number): number => Math.round(value * 100) / 100;
