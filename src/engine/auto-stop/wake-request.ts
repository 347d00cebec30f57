// Which wake request counts: the newest that is fresh, of the stamp on the engine and of what gateways show
// (docs/design/auto-stop.md#wake-requests). Pure; the clock is an argument.

import type { V1ObjectMeta } from "../../api/generated/kubernetes.ts";
import type { DeepReadonly } from "../../api/values/deep-readonly.ts";
import { isWakeFresh, wakeStampOf } from "./wake-stamp.ts";

/** What a gateway's agent shows of a stopped engine. */
export interface WakeDemand {
  /** When it was last requested, by the agent's clock. */
  readonly stampMs: number;
  /** Whether requests are held for it now. */
  readonly isWaitedFor: boolean;
  /** The gateway's pod. */
  readonly gateway: string;
}

export interface WakeRequest {
  /** The time that its freshness is judged by. */
  readonly atMs: number;
  readonly stampMs: number;
  /** Undefined: stamped on the engine. */
  readonly gateway: string | undefined;
}

export interface WakeSources {
  readonly metadata: DeepReadonly<V1ObjectMeta> | undefined;
  readonly demand: WakeDemand | undefined;
  /** When the replicas were last changed: requests up to then have had their engine, or were overruled by a stop. */
  readonly lastScaledMs: number | undefined;
  /** When the engine last came into use, for one that runs: what it was woken for must not keep it up. */
  readonly usedMs?: number | undefined;
  readonly nowMs: number;
}

export function newestWakeRequest(sources: WakeSources): WakeRequest | undefined {
  const fresh = [stamped(sources), shown(sources)].filter(
    (request): request is WakeRequest => request !== undefined && isWakeFresh(request.atMs, sources.nowMs),
  );
  return fresh.reduce<WakeRequest | undefined>(
    (newest, request) => (newest === undefined || request.atMs > newest.atMs ? request : newest),
    undefined,
  );
}

function stamped(sources: WakeSources): WakeRequest | undefined {
  const stampMs = wakeStampOf(sources.metadata);
  if (stampMs === undefined || isServed(stampMs, sources)) return undefined;
  return { atMs: stampMs, stampMs, gateway: undefined };
}

function shown(sources: WakeSources): WakeRequest | undefined {
  const { demand, nowMs } = sources;
  if (demand === undefined) return undefined;
  const { stampMs, isWaitedFor, gateway } = demand;
  // A request waits now, whatever the clock of the gateway's node shows.
  if (isWaitedFor) return { atMs: nowMs, stampMs, gateway };
  return isServed(stampMs, sources) ? undefined : { atMs: stampMs, stampMs, gateway };
}

/**
 * Both requests and scalings are stored in whole seconds, and a request is usually served within its own. A request
 * that comes in the very second of a stop is repeated while its client still waits: agents stamp a time after the last
 * scaling (src/wake-agent/wake-requester.ts).
 */
function isServed(stampMs: number, { lastScaledMs, usedMs }: WakeSources): boolean {
  const second = Math.floor(stampMs / 1_000) * 1_000;
  return (lastScaledMs !== undefined && second <= lastScaledMs) || (usedMs !== undefined && second < usedMs);
}
