// The queries that the playground sends: an engine computes each of them and its result is known, so that wrong results
// are detected as well as missing ones.
import { parseRows, query } from "../deploy/query.ts";
import type { SentQuery } from "./check-report.ts";

/** The query that is shown, and its result. Every engine accepts it, stand-in or real. */
export const FIRST_QUERY = { sql: "SELECT 6 * 7 AS answer", answer: 42 } as const;

export const CHECK_QUERIES = 50;
const AT_ONCE = 5;
const TIMEOUT_MS = 30_000;

export interface Destination {
  /** `http://host:port` */
  readonly gateway: string;
  readonly engines: readonly string[];
  readonly signal: AbortSignal;
}

/** Sends them to the engines in turn, a few at a time; each has its own connection and its own result. */
export async function sendQueries(count: number, destination: Destination): Promise<readonly SentQuery[]> {
  const sent: SentQuery[] = [];
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) sent.push(await sendOne(n, destination));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  return sent;
}

async function sendOne(n: number, { gateway, engines, signal }: Destination): Promise<SentQuery> {
  const engine = engines[n % engines.length] ?? "";
  const { sql, answer } = numberedQuery(n);
  const startedMs = performance.now();
  try {
    const { status, body, durationMs } = await query({ gateway, engine, sql, timeoutMs: TIMEOUT_MS, signal });
    const failure = status === 200 ? wrongAnswer(body, answer) : `${engine}: status ${status}: ${body.trim()}`;
    return failure === undefined ? { durationMs } : { durationMs, failure };
  } catch (error) {
    if (signal.aborted) throw error;
    const failure = `${engine}: ${error instanceof Error ? error.message : String(error)}`;
    return { durationMs: performance.now() - startedMs, failure };
  }
}

/** The n-th query and its result. */
export function numberedQuery(n: number): { readonly sql: string; readonly answer: number } {
  return { sql: `SELECT ${n} * 7 + 1 AS answer`, answer: n * 7 + 1 };
}

/** Undefined when the first value is the expected one. */
export function wrongAnswer(body: string, answer: number): string | undefined {
  try {
    const value = parseRows(body)[0]?.[0];
    // Large integers travel as text.
    return Number(value) === answer ? undefined : `returned ${JSON.stringify(value)} instead of ${answer}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
