// When the API server says "not now": how long to wait before the same request is sent again. Decides only; waits nowhere.
import type { ApiStatus } from "../core/errors.ts";

export interface Refusal {
  readonly status: number;
  /** The Retry-After header, as sent. */
  readonly retryAfter: string | undefined;
  readonly body: ApiStatus | undefined;
  /** How often this call has already been sent again. */
  readonly retries: number;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_GUESS_MS = 16_000;
/** Clients that were refused together must not come back together. */
const JITTER = 0.25;

/** Retry-After as milliseconds: whole seconds, or an HTTP date. Undefined when absent or unreadable. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined || value.trim() === "") return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000;
  const dateMs = Date.parse(value);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

/**
 * The wait before the next attempt, or undefined when the refusal is the answer. 429 is always retried; 503 and 504 only
 * when the server says when to come back. An eviction that a disruption budget forbids is also a 429, but an answer.
 */
export function retryDelayMs(refusal: Refusal, nowMs: number, random: () => number): number | undefined {
  const { status, body, retries } = refusal;
  if (status !== 429 && status !== 503 && status !== 504) return undefined;
  if (body?.details?.causes?.some((cause) => cause.reason === "DisruptionBudget")) return undefined;
  const told = parseRetryAfter(refusal.retryAfter, nowMs);
  if (told === undefined && status !== 429) return undefined;
  const baseMs = told ?? Math.min(FIRST_WAIT_MS * 2 ** retries, LONGEST_GUESS_MS);
  return baseMs * (1 + JITTER * random());
}
