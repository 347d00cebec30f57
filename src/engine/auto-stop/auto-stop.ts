// What auto-stop adds to a decision of the engine: its fields of the one status write and, at rest, another number of
// replicas (docs/design/auto-stop.md#when-it-is-evaluated). It never adds a write of its own to a pass that is not at
// rest. Pure: which reads it needs is decided here as well, and observe makes them.
import { timeText } from "../../api/condition-list.ts";
import { INSTANCE_DEFAULTS } from "../../api/defaults.ts";
import type { EngineDecision, NextStatus, Recheck } from "../model/decision.ts";
import { isAtRest } from "../model/phase.ts";
import type { EngineSnapshot } from "../model/snapshot.ts";
import { SHORTEST_INTERVAL_MS } from "../resolve/settings.ts";
import { type ActivityRequest, type AutoStopVerdict, decideAutoStop } from "./decide.ts";
import { foreignStopMs } from "./foreign-stop.ts";
import { type AutoStopPolicy, resolvePolicy } from "./policy.ts";
import { scrapeFailureText, storedScrapeFailure, withScrapeFailure } from "./scrape-failure.ts";
import { newestWakeRequest, type WakeRequest } from "./wake-request.ts";
import { parseRfc3339, WAKE_AHEAD_MS } from "./wake-stamp.ts";

/** A scaling may lie ahead by less than a request may, so that a request that follows it still counts. */
const SCALED_AHEAD_MS = WAKE_AHEAD_MS / 2;

type AtRest = EngineDecision & { readonly type: "hold" };
/** Whether the decision depends on when `spec.replicas` was set to zero. */
export function needsStopTime(made: EngineDecision, observed: EngineSnapshot): boolean {
  const { decision, snapshot } = withPlausibleScaling(made, observed);
  return isForeignStop(decision, snapshot) && isOvertaken(snapshot);
}

/** What to request of the pods; undefined: auto-stop is not evaluated in this pass. */
export function activityRequest(decision: EngineDecision, s: EngineSnapshot): ActivityRequest | undefined {
  const policy = policyOf(s);
  if (policy === "unknown" || policy === undefined || decision.type !== "hold" || !isVerified(decision, s))
    return undefined;
  const { nowMs, identity, generations } = s;
  const mode = s.instance?.spec.metricScrapeMode ?? INSTANCE_DEFAULTS.metricScrapeMode;
  // A stop needs pods that were idle after the idle time had passed, not some time before.
  const dueMs = (storedMs(s.status?.lastActivityTime) ?? Number.POSITIVE_INFINITY) + policy.idleTimeoutMs;
  const freshness =
    nowMs >= dueMs ? { sinceMs: dueMs, freshMs: SHORTEST_INTERVAL_MS } : { sinceMs: 0, freshMs: pollMs(policy) / 2 };
  return { identity, active: generations.active, replicas: s.engine.spec?.replicas ?? 0, mode, ...freshness };
}

export function withAutoStop(made: EngineDecision, observed: EngineSnapshot): EngineDecision {
  const plausible = withPlausibleScaling(made, observed);
  const { decision, snapshot } = withForeignStop(plausible.decision, plausible.snapshot);
  // A closed gate changes conditions only; behind it nothing is decided.
  if (decision.type === "broken" || decision.type === "refuse") return decision;
  const policy = policyOf(snapshot);
  if (policy === "unknown") return decision;
  if (policy === undefined) return { ...decision, status: switchedOff(decision.status) };
  if (decision.type === "hold" && isVerified(decision, snapshot)) return evaluate(decision, snapshot, policy);
  if (decision.type === "hold" && decision.step === "drain-wait") return wakeDraining(decision, snapshot, policy);
  const started = asStarted(decision.status, snapshot);
  const entersStable = decision.status.phase === "stable" && snapshot.phase !== "stable";
  if (!entersStable) return { ...decision, status: started };
  return { ...decision, status: { ...started, lastActivityTime: clockText(snapshot.nowMs) } };
}

/** An engine that has replicas again is not stopped any more, also before it serves: the next stop is a new one. */
function asStarted(status: NextStatus, { engine, status: stored }: EngineSnapshot): NextStatus {
  const isStarted = stored?.autoStopReason === "Stopped" && (engine.spec?.replicas ?? 0) > 0;
  return isStarted ? { ...status, autoStopReason: "Initializing" } : status;
}

/**
 * A process whose clock was ahead left a scaling that has not happened yet by this clock. Requests are made after the
 * last scaling, and would lie too far ahead to count: the engine would not wake before that time comes. Requests until
 * now have been decided on.
 */
function withPlausibleScaling(decision: EngineDecision, snapshot: EngineSnapshot) {
  const { status: stored, nowMs } = snapshot;
  const scaledMs = storedMs(stored?.lastScaledAt) ?? 0;
  const isPlausible = stored === undefined || scaledMs <= nowMs + SCALED_AHEAD_MS;
  if (isPlausible || decision.type === "broken" || decision.type === "refuse") return { decision, snapshot };
  const lastScaledAt = timeText(nowMs);
  return {
    decision: { ...decision, status: { ...decision.status, lastScaledAt } },
    snapshot: { ...snapshot, status: { ...stored, lastScaledAt } },
  };
}

/**
 * Replicas set to zero by anything but auto-stop, seen for the first time: that is a scaling like auto-stop's own, so
 * that no earlier request undoes it. Auto-stop's own stop is stored with its time, unless the process exited before it
 * could be.
 */
function withForeignStop(decision: EngineDecision, snapshot: EngineSnapshot) {
  if (decision.type === "broken" || !isForeignStop(decision, snapshot)) return { decision, snapshot };
  const { status: stored, nowMs, findings } = snapshot;
  const stoppedMs = foreignStopMs(nowMs, findings?.replicasSetMs);
  const seen = { autoStopReason: "Stopped", lastScaledAt: scaledText(stored, stoppedMs) } as const;
  return {
    decision: { ...decision, status: { ...decision.status, ...seen } },
    snapshot: stored === undefined ? snapshot : { ...snapshot, status: { ...stored, ...seen } },
  };
}

function isForeignStop({ type }: EngineDecision, snapshot: EngineSnapshot): boolean {
  const { engine, status: stored } = snapshot;
  const isOn = stored?.autoStopReason !== undefined && stored.autoStopReason !== "Disabled";
  const isKnown =
    stored?.autoStopReason === "Stopped" || (stored?.autoStopReason === "Idle" && stopsWhenIdle(snapshot));
  return engine.spec?.replicas === 0 && isOn && !isKnown && type !== "broken" && type !== "refuse";
}

/**
 * Of a stop and a request that both came since the last pass the later one counts: whether the time of the stop decides
 * that.
 */
function isOvertaken(snapshot: EngineSnapshot): boolean {
  const { nowMs, status } = snapshot;
  return (
    wakeRequestOf(snapshot) !== undefined &&
    wakeRequestOf({ ...snapshot, status: stoppedAt(status, foreignStopMs(nowMs, undefined)) }) === undefined
  );
}

function stoppedAt(stored: EngineSnapshot["status"], ms: number): EngineSnapshot["status"] {
  return stored === undefined ? undefined : { ...stored, lastScaledAt: scaledText(stored, ms) };
}

function stopsWhenIdle(snapshot: EngineSnapshot): boolean {
  const policy = policyOf(snapshot);
  return policy !== "unknown" && policy?.idleReplicas === 0;
}

/** Never earlier than before, and never earlier than the request it serves: a gateway's clock may be ahead. */
function scaledText(stored: EngineSnapshot["status"], nowMs: number, wake?: WakeRequest): string {
  return timeText(Math.max(nowMs, storedMs(stored?.lastScaledAt) ?? 0, wake?.atMs ?? 0));
}

/**
 * At rest before and after. A generation that waits because of a foreign edit must not keep a query from waking the
 * engine.
 */
function isVerified({ step, status }: AtRest, { phase }: EngineSnapshot): boolean {
  return (step === "verify" || step === "damped") && isAtRest(phase) && phase === status.phase;
}

/** Without the class that may hold the policy, nothing is known; an engine with a block of its own does not need it. */
function policyOf({ engine, engineClass }: EngineSnapshot): AutoStopPolicy | undefined | "unknown" {
  const own = engine.spec?.autoStop;
  if (own === undefined && engineClass.type === "missing") return "unknown";
  return resolvePolicy(own, engineClass.type === "found" ? engineClass.object.spec?.autoStop : undefined);
}

function switchedOff(status: NextStatus): NextStatus {
  const { lastActivityTime: _, ...kept } = status;
  return { ...kept, autoStopReason: "Disabled" };
}

/**
 * A query that meets a stop would keep the engine down until the drain ends. The generation that drains is still there:
 * the engine gets its number of replicas back, and with it that generation.
 */
function wakeDraining(decision: AtRest, s: EngineSnapshot, policy: AutoStopPolicy): EngineDecision {
  const replicas = s.engine.spec?.replicas ?? 0;
  const wake = replicas === 0 ? wakeRequestOf(s) : undefined;
  if (wake === undefined) return decision;
  const to = s.drainingPods.wanted > 0 ? s.drainingPods.wanted : policy.activeReplicas;
  const reason = "WakeRequested";
  const status = {
    ...decision.status,
    autoStopReason: reason,
    lastScaledAt: scaledText(s.status, s.nowMs, wake),
  } as const;
  return { ...decision, scale: { from: replicas, to, reason, status, wake } };
}

function wakeRequestOf(s: EngineSnapshot): WakeRequest | undefined {
  return newestWakeRequest({
    metadata: s.engine.metadata,
    demand: s.wakeDemand,
    lastScaledMs: storedMs(s.status?.lastScaledAt),
    usedMs: s.engine.spec?.replicas === 0 ? undefined : storedMs(s.status?.lastActivityTime),
    nowMs: s.nowMs,
  });
}

function evaluate(decision: AtRest, s: EngineSnapshot, policy: AutoStopPolicy): EngineDecision {
  const { nowMs } = s;
  const { activity = "pending", lastEvaluated } = s.findings ?? {};
  // The engine is enqueued when its pods have responded, and until then what was decided last stands.
  if (activity === "pending") {
    const known = withScrapeFailure(decision.status, storedScrapeFailure(s.status));
    return { ...decision, status: known, recheck: earlier(decision.recheck, pollMs(policy)) };
  }
  const replicas = s.engine.spec?.replicas ?? 0;
  const lastActivityMs = storedMs(s.status?.lastActivityTime);
  const wake = wakeRequestOf(s);
  const wakeStampMs = wake?.atMs;
  const verdict = decideAutoStop({ policy, replicas, wakeStampMs, activity, lastActivityMs, lastEvaluated, nowMs });
  const failure = verdict.reason === "ScrapeFailed" && activity.type === "failed" ? activity : undefined;
  const shown = withScrapeFailure(decision.status, failure && scrapeFailureText(failure));
  const status = folded(shown, verdict, lastActivityMs);
  const recheck = earlier(decision.recheck, nextPollMs(verdict, policy, nowMs));
  if (verdict.replicas === replicas) return { ...decision, status, recheck };
  const scaled = { ...status, lastScaledAt: scaledText(s.status, nowMs, wake) };
  const scale = {
    from: replicas,
    to: verdict.replicas,
    reason: verdict.reason,
    status: scaled,
    ...(wake === undefined ? {} : { wake }),
  };
  // Should the write be rejected, the pass ends as if nothing had been decided.
  return { ...decision, recheck, scale };
}

function storedMs(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseRfc3339(text);
}

function folded(
  status: NextStatus,
  { reason, lastActivityMs }: AutoStopVerdict,
  before: number | undefined,
): NextStatus {
  const base = { ...status, autoStopReason: reason };
  if (lastActivityMs === undefined || lastActivityMs === before) return base;
  return { ...base, lastActivityTime: clockText(lastActivityMs) };
}

/** At the poll, or when the idle time is over if that comes first. */
function nextPollMs({ lastActivityMs, replicas }: AutoStopVerdict, policy: AutoStopPolicy, nowMs: number): number {
  const poll = pollMs(policy);
  if (lastActivityMs === undefined || replicas <= policy.idleReplicas) return poll;
  const idleInMs = lastActivityMs + policy.idleTimeoutMs - nowMs;
  return idleInMs > 0 ? Math.min(poll, Math.max(idleInMs, SHORTEST_INTERVAL_MS)) : poll;
}

function pollMs({ pollIntervalMs }: AutoStopPolicy): number {
  return Math.max(pollIntervalMs, SHORTEST_INTERVAL_MS);
}

function earlier(recheck: Recheck, afterMs: number): Recheck {
  return recheck === "requeue" ? recheck : { afterMs: Math.min(recheck.afterMs, afterMs) };
}

/** Stored times have whole seconds: rounded up, so that the time they start is never shorter than promised. */
function clockText(ms: number): string {
  return timeText(Math.ceil(ms / 1_000) * 1_000);
}
