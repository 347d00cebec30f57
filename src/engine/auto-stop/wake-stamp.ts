// The time of the last wake request, as the gateway writes it on the engine. Reads no clock; a stamp is never cleared,
// it lapses.

import type { V1ObjectMeta } from "../../api/generated/kubernetes.ts";
import { ANNOTATION } from "../../api/labels.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";

/** The client of an older request has timed out. */
export const WAKE_FRESH_MS = 5 * 60_000;
/**
 * Clocks differ a little; a stamp further ahead than this is an error, and would keep an engine up for as long as it
 * lies ahead.
 */
export const WAKE_AHEAD_MS = 60_000;

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** Milliseconds since the epoch, or undefined when there is no stamp that can be read. */
export function wakeStampOf(metadata: DeepReadonly<V1ObjectMeta> | undefined): number | undefined {
  const text = metadata?.annotations?.[ANNOTATION.wakeRequested];
  return text === undefined ? undefined : parseRfc3339(text);
}

export function isWakeFresh(stampMs: number | undefined, nowMs: number): boolean {
  if (stampMs === undefined) return false;
  const ageMs = nowMs - stampMs;
  return ageMs < WAKE_FRESH_MS && ageMs >= -WAKE_AHEAD_MS;
}

/** Strict: JavaScript's own parser takes local times and half dates, and what they mean depends on the host. */
export function parseRfc3339(text: string): number | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const milliseconds = Math.floor(Number(match[7] ?? 0) * 1_000);
  const midnight = Date.UTC(year, month - 1, day);
  const date = new Date(midnight);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const [offsetHour = 0, offsetMinute = 0] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (!exists || hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return undefined;
  const offset = (offsetHour * 60 + offsetMinute) * (match[8] === "-" ? -1 : 1);
  return midnight + ((hour * 60 + minute - offset) * 60 + second) * 1_000 + milliseconds;
}
