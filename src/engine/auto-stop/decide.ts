// The auto-stop decision (docs/design/auto-stop.md#ranks): nine ranks, the first that applies wins, and the activity
// clock kept beside it. A pure function: what the pods reported and the time are arguments.
import type { MetricScrapeMode } from "../../api/firebolt-instance/instance.ts";
import type { AutoStopReason } from "../../api/phases.ts";
import type { EngineIdentity } from "../model/names.ts";
import type { AutoStopPolicy } from "./policy.ts";
import { isScheduleOpen } from "./schedule.ts";
import { isWakeFresh } from "./wake-stamp.ts";

/** What the pods of the active generation reported in this pass. A pod that cannot be queried is not an idle pod. */
export type Activity =
  | { readonly type: "notProbed" }
  | { readonly type: "failed"; readonly cause: string; readonly isForbidden?: true }
  | { readonly type: "read"; readonly queries: number };

/** What to request of the pods of the active generation. */
export interface ActivityRequest {
  readonly identity: EngineIdentity;
  readonly active: number;
  readonly replicas: number;
  readonly mode: MetricScrapeMode;
  /** From when on a probe counts, and for how long its result does. */
  readonly sinceMs: number;
  readonly freshMs: number;
}

export interface AutoStopInput {
  /** Undefined: off. */
  readonly policy: AutoStopPolicy | undefined;
  readonly replicas: number;
  /** The newest wake request, in milliseconds since the epoch. */
  readonly wakeStampMs: number | undefined;
  readonly activity: Activity;
  readonly lastActivityMs: number | undefined;
  /**
   * When this process last evaluated the engine, in milliseconds since the epoch; "never": not yet, because it has just
   * started or has just become the leader. Undefined where that is not kept: the engine then counts as evaluated
   * without interruption.
   */
  readonly lastEvaluated?: number | "never" | undefined;
  readonly nowMs: number;
}

/** Evaluations that are further apart than this many polls, and than this time, leave a gap in what is known. */
const GAP_POLLS = 3;
const SHORTEST_GAP_MS = 30_000;

export type Rank = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

export interface AutoStopVerdict {
  readonly rank: Rank;
  readonly reason: AutoStopReason;
  /** What `spec.replicas` should be. */
  readonly replicas: number;
  /** The activity clock from now on; undefined: none. */
  readonly lastActivityMs: number | undefined;
}

export function decideAutoStop(input: AutoStopInput): AutoStopVerdict {
  const { policy, replicas } = input;
  // Off: the clock is cleared, and starts afresh should the policy come back.
  if (policy === undefined) return { rank: 1, reason: "Disabled", replicas, lastActivityMs: undefined };
  const verdict = rankOf(input, policy);
  return { ...verdict, lastActivityMs: activityClock(input, verdict, isAfterGap(input, policy)) };
}

type Ranked = Omit<AutoStopVerdict, "lastActivityMs">;

function rankOf(input: AutoStopInput, policy: AutoStopPolicy): Ranked {
  const { replicas, activity, lastActivityMs, nowMs } = input;
  const { activeReplicas, idleReplicas, idleTimeoutMs } = policy;
  // A stopped engine has zero replicas, so wake ranks above "Stopped"; a positive number that a user chose stays.
  if (isWakeFresh(input.wakeStampMs, nowMs) && (replicas === 0 || replicas === activeReplicas))
    return { rank: 2, reason: "WakeRequested", replicas: activeReplicas };
  if (isScheduleOpen(policy.schedule, nowMs)) return { rank: 3, reason: "ScheduleActive", replicas: activeReplicas };
  if (replicas === 0) return { rank: 4, reason: "Stopped", replicas };
  if (activity.type !== "read") return { rank: 5, reason: "ScrapeFailed", replicas };
  if (activity.queries > 0) return { rank: 6, reason: "ActivityObserved", replicas };
  if (lastActivityMs === undefined || isAfterGap(input, policy)) return { rank: 7, reason: "Initializing", replicas };
  if (nowMs - lastActivityMs >= idleTimeoutMs && replicas > idleReplicas)
    return { rank: 8, reason: "Idle", replicas: idleReplicas };
  return { rank: 9, reason: "ActivityObserved", replicas };
}

/**
 * Whether the engine went unobserved for so long that it may have been used unnoticed: the operator was down, cut off
 * or not the leader. Activity up to the last evaluation, or up to the last activity, is known.
 */
function isAfterGap(
  { lastEvaluated, lastActivityMs, nowMs }: AutoStopInput,
  { pollIntervalMs }: AutoStopPolicy,
): boolean {
  if (lastEvaluated === undefined || lastActivityMs === undefined) return false;
  const knownUntilMs = lastEvaluated === "never" ? lastActivityMs : Math.max(lastEvaluated, lastActivityMs);
  return nowMs - knownUntilMs > Math.max(GAP_POLLS * pollIntervalMs, SHORTEST_GAP_MS);
}

/**
 * Independent of the rank that won: a woken engine, or one that was busy inside a window, has a full timeout before it.
 */
function activityClock(
  { replicas, activity, lastActivityMs, nowMs }: AutoStopInput,
  verdict: Ranked,
  afterGap: boolean,
): number | undefined {
  const raised = verdict.replicas > replicas;
  const isQuiet = activity.type === "read" && activity.queries === 0;
  const counts = !isQuiet || lastActivityMs === undefined || afterGap;
  return raised || (replicas > 0 && counts) ? nowMs : lastActivityMs;
}
