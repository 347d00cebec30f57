// Decides whether and when a rejected request is sent again. Decides only; does not wait.
import type { ApiStatus } from "../core/errors.ts";

export interface RejectedCall {
  readonly status: number;
  /** The Retry-After header, as sent. */
  readonly retryAfter: string | undefined;
  readonly body: ApiStatus | undefined;
  /** How often this call has already been retried. */
  readonly retries: number;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_GUESS_MS = 16_000;
/** Clients that were rejected together must not retry together. */
const JITTER = 0.25;

/** Retry-After as milliseconds: whole seconds, or an HTTP date. Undefined when absent or unreadable. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined || value.trim() === "") return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000;
  const dateMs = Date.parse(value);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

/**
 * The wait before the next attempt, or undefined if the response is final. 429 is always retried; 503 and 504 only with
 * a Retry-After header. An eviction that a disruption budget forbids is also a 429, but final.
 */
export function retryDelayMs(rejected: RejectedCall, nowMs: number, random: () => number): number | undefined {
  const { status, body, retries } = rejected;
  if (status !== 429 && status !== 503 && status !== 504) return undefined;
  if (body?.details?.causes?.some((cause) => cause.reason === "DisruptionBudget")) return undefined;
  const requestedMs = parseRetryAfter(rejected.retryAfter, nowMs);
  if (requestedMs === undefined && status !== 429) return undefined;
  const baseMs = requestedMs ?? Math.min(FIRST_WAIT_MS * 2 ** retries, LONGEST_GUESS_MS);
  return baseMs * (1 + JITTER * random());
}
