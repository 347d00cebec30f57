// Which wake request counts: the newest that is fresh, of the stamp on the engine and of what gateways show (behaviour §4.4). Pure; the
// clock is an argument.
import type { DeepReadonly } from "../../api/deep-readonly.ts";
import type { V1ObjectMeta } from "../../api/generated/kubernetes.ts";
import { isWakeFresh, wakeStampOf } from "./wake-stamp.ts";

/** What a gateway's agent shows of a stopped engine. */
export interface WakeDemand {
  /** When it was last asked for, by the agent's clock. */
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
  /** When auto-stop last changed the replicas. */
  readonly lastScaledMs: number | undefined;
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

function stamped({ metadata }: WakeSources): WakeRequest | undefined {
  const stampMs = wakeStampOf(metadata);
  return stampMs === undefined ? undefined : { atMs: stampMs, stampMs, gateway: undefined };
}

function shown({ demand, lastScaledMs, nowMs }: WakeSources): WakeRequest | undefined {
  if (demand === undefined) return undefined;
  const { stampMs, isWaitedFor, gateway } = demand;
  // Somebody waits: that is so now, whatever the clock of the gateway's node says.
  if (isWaitedFor) return { atMs: nowMs, stampMs, gateway };
  // Agents remember for longer than a short idle time: what the engine was woken for before must not wake it once more.
  return lastScaledMs !== undefined && stampMs <= lastScaledMs ? undefined : { atMs: stampMs, stampMs, gateway };
}
