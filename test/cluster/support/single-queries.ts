// Single queries at chosen moments after a switch of traffic, each with its outcome and the generation that served it.
// Never retries.
import { setTimeout as sleep } from "node:timers/promises";
import { parseRows, query } from "../../../dev/deploy/query.ts";
import type { EngineReport } from "./engine-reports.ts";
import type { Failure } from "./load-tally.ts";

export interface PlannedQuery {
  /** After the switch. */
  readonly offsetMs: number;
  /** How long it runs; 0 for one that finishes immediately. */
  readonly takesMs: number;
}

export interface SingleQuery extends PlannedQuery {
  readonly label: string;
  readonly engine: string;
  /** Measured, from the switch to the moment it was sent. */
  readonly sentAfterMs: number;
  /**
   * The generation that served it; undefined when the query was lost, and for a long one: the engine's reports have it.
   */
  readonly generation: string | undefined;
  readonly failure: Failure | undefined;
}

export interface SendOptions {
  readonly gateway: string;
  readonly engine: string;
  /** What the test does: part of every label. */
  readonly phase: string;
  /** On this process's monotonic clock. */
  readonly switchedMs: number;
}

/** Resolves when all of them have a response or are lost. */
export function sendPlanned(plan: readonly PlannedQuery[], options: SendOptions): Promise<readonly SingleQuery[]> {
  return Promise.all(
    plan.map(async (planned, index) => {
      await sleep(Math.max(0, options.switchedMs + planned.offsetMs - performance.now()));
      return send(planned, `${options.engine}-${options.phase}-${index}`, options);
    }),
  );
}

async function send(planned: PlannedQuery, label: string, options: SendOptions): Promise<SingleQuery> {
  const { gateway, engine, phase, switchedMs } = options;
  const { takesMs } = planned;
  const sentMs = performance.now();
  const sent = { ...planned, label, engine, sentAfterMs: sentMs - switchedMs };
  const lost = (status: number | undefined, why: string): SingleQuery => {
    const type = takesMs > 0 ? "long" : "short";
    const base = { id: label, engine, type, connection: "new", sentIn: phase, failedIn: phase } as const;
    const durationMs = performance.now() - sentMs;
    const failure = { ...base, at: new Date().toISOString(), durationMs, status, why };
    return { ...sent, generation: undefined, failure };
  };
  const sql = takesMs > 0 ? `SELECT sleep(${takesMs})` : "SELECT whoami()";
  const [outcome] = await Promise.allSettled([query({ gateway, engine, sql, label })]);
  if (outcome.status === "rejected") return lost(undefined, String(outcome.reason));
  const { status, body } = outcome.value;
  if (status !== 200 || body.includes('"errors"')) return lost(status, body.slice(0, 200).trim());
  const [row = []] = parseRows(body);
  if (takesMs === 0) return { ...sent, generation: String(row[1]), failure: undefined };
  const isWhole = row[0] === takesMs && performance.now() - sentMs >= takesMs - 5;
  return isWhole ? { ...sent, generation: undefined, failure: undefined } : lost(status, body.slice(0, 200).trim());
}

/** The generation whose pod began to run it. */
export function generationOf({ generation, label }: SingleQuery, reports: readonly EngineReport[]): string | undefined {
  if (generation !== undefined) return generation;
  const began = reports.find((report) => report.type === "began" && report.label === label);
  return /-g(\d+)-\d+$/.exec(began?.pod ?? "")?.[1];
}
