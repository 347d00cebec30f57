// Probes pods for running queries beside the reconcile passes, so that a pod that does not respond never holds a
// worker. A pass reads what is known and requests what is not; the prober enqueues the engine when it is known. Decides
// nothing about engines.
import { type Clock, formatKey, type Logger, untilAborted } from "@firebolt-operator/kube";
import type { MetricScrapeMode } from "../../api/firebolt-instance/instance.ts";
import type { EngineKey } from "../cluster/engine-cluster.ts";
import { SCRAPE_LIMITS } from "../cluster/pod-scrape.ts";
import type { Pod } from "../model/children.ts";
import { type Lane, ProbeLanes } from "./probe-lanes.ts";
import { ProbeRounds } from "./probe-rounds.ts";
import type { PodQueries, ProbeRequest, QueryProbe, QueryProber, ScrapePod } from "./query-probe.ts";
import { outcomeOfFailure, outcomeOfResponse, type ProbeOutcome } from "./scrape-outcome.ts";

export interface QueryProberOptions {
  readonly scrape: ScrapePod;
  readonly clock: Clock;
  /** Ends the prober: nothing is probed and no engine enqueued after it. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Probes at once. */
  readonly concurrency?: number;
}

export const PROBE_CONCURRENCY = 64;
/** A scrape that does not keep its own limits loses its slot after this. */
const GIVE_UP_MS = SCRAPE_LIMITS.totalMs + 5_000;
const UNREAD_MS = 60_000;
/** What is known about a pod is forgotten when no pass has requested it for this long. */
const FORGET_MS = 10 * 60_000;
const FORGET_EVERY_MS = 60_000;

interface ProbeResult {
  readonly mode: MetricScrapeMode;
  /** Wall clock: compared with the moment from which probes count. */
  readonly beganMs: number;
  /** These two on the monotonic clock. */
  readonly arrivedMs: number;
  readMs: number | undefined;
  readonly queries: PodQueries;
}

/** One pod, by uid: a replacement of the same name is another one. */
interface Target {
  readonly uid: string;
  pod: Pod;
  mode: MetricScrapeMode;
  sinceMs: number;
  requestedMs: number;
  /** Undefined: not probed yet. */
  responds: boolean | undefined;
  result: ProbeResult | undefined;
}

export function createQueryProber(options: QueryProberOptions): QueryProber {
  return new PodProber(options);
}

class PodProber implements QueryProber {
  readonly #options: QueryProberOptions;
  readonly #lanes: ProbeLanes<Target>;
  readonly #rounds = new ProbeRounds();
  readonly #targets = new Map<string, Target>();
  readonly #listeners = new Set<(engine: EngineKey) => void>();
  /** Engines whose request is for a moment in the future, with the way to cancel their timer. */
  readonly #deferred = new Map<string, () => void>();
  #forgotMs: number;

  constructor(options: QueryProberOptions) {
    this.#options = options;
    const { signal, clock, concurrency: places = PROBE_CONCURRENCY } = options;
    this.#forgotMs = clock.monotonicMs();
    this.#lanes = new ProbeLanes({
      places,
      run: (target) => this.#probe(target),
      onDone: (target) => this.#finish(target),
    });
    const end = (): void => {
      this.#lanes.close();
      for (const cancel of this.#deferred.values()) cancel();
      this.#deferred.clear();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  }

  queries(engine: EngineKey, pods: readonly Pod[], request: ProbeRequest): QueryProbe {
    const nowMs = this.#options.clock.monotonicMs();
    const targets = pods.map((pod) => this.#target(pod, request.mode, nowMs));
    this.#forget(nowMs);
    const unknown = targets.filter(({ result }) => result === undefined || !isCurrent(result, request, nowMs));
    if (unknown.length > 0) {
      this.#request(engine, unknown, request);
      return { type: "pending" };
    }
    // Only now: a result that a pass could not use yet, because others were missing, must not expire before it can.
    for (const { result } of targets) if (result !== undefined) result.readMs ??= nowMs;
    return firstNotIdle(targets);
  }

  onResult(listener: (engine: EngineKey) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #target(pod: Pod, mode: MetricScrapeMode, nowMs: number): Target {
    const uid = uidOf(pod);
    const known = this.#targets.get(uid);
    if (known !== undefined) return Object.assign(known, { pod, requestedMs: nowMs });
    const target: Target = { uid, pod, mode, sinceMs: 0, requestedMs: nowMs, responds: undefined, result: undefined };
    this.#targets.set(uid, target);
    return target;
  }

  #request(engine: EngineKey, targets: readonly Target[], { mode, sinceMs }: ProbeRequest): void {
    const { clock, signal } = this.#options;
    if (signal.aborted) return;
    const waitMs = sinceMs - clock.now();
    if (waitMs > 0) {
      this.#defer(engine, waitMs);
      return;
    }
    this.#rounds.add(
      engine,
      targets.map(({ uid }) => uid),
    );
    for (const target of targets) this.#lanes.add(Object.assign(target, { mode, sinceMs }), laneOf(target));
  }

  /** No probe counts before that moment: the pass that follows requests them. */
  #defer({ namespace, name }: EngineKey, waitMs: number): void {
    const engine = { namespace, name };
    const key = formatKey(engine);
    this.#deferred.get(key)?.();
    const cancel = this.#options.clock.after(waitMs, () => {
      this.#deferred.delete(key);
      this.#enqueue(engine);
    });
    this.#deferred.set(key, cancel);
  }

  async #probe(target: Target): Promise<void> {
    const { clock, signal } = this.#options;
    const { pod, mode } = target;
    const beganMs = clock.now();
    const { queries, responded } = await this.#scrape(pod, mode);
    // A probe that was aborted because the prober shuts down shows nothing about the pod.
    if (signal.aborted) return;
    if ((target.responds ?? true) !== responded) this.#log(pod, queries, responded);
    target.responds = responded;
    target.result = { mode, beganMs, arrivedMs: clock.monotonicMs(), readMs: undefined, queries };
  }

  async #scrape(pod: Pod, mode: MetricScrapeMode): Promise<ProbeOutcome> {
    const { clock, scrape } = this.#options;
    const limit = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, limit.signal]);
    const giveUp = (): void => limit.abort(new Error(`no complete response within ${GIVE_UP_MS / 1000} s`));
    const cancel = clock.after(GIVE_UP_MS, giveUp);
    try {
      return outcomeOfResponse(await untilAborted(scrape(pod, mode, signal), signal));
    } catch (error) {
      return outcomeOfFailure(error);
    } finally {
      cancel();
    }
  }

  #finish(target: Target): void {
    const { signal, clock } = this.#options;
    const { result, mode, sinceMs } = target;
    if (signal.aborted || result === undefined) return;
    // Requested again while it ran, and too early or the wrong way for that request: those who wait get another one.
    // Where the wall clock was set back, another one would be too early as well: then the pass waits for the moment.
    const isUseful = result.mode === mode && result.beganMs >= sinceMs;
    if (!isUseful && sinceMs <= clock.now()) this.#lanes.add(target, laneOf(target));
    else for (const engine of this.#rounds.finish(target.uid)) this.#enqueue(engine);
  }

  #enqueue(engine: EngineKey): void {
    if (this.#options.signal.aborted) return;
    for (const listener of this.#listeners) {
      try {
        listener(engine);
      } catch (error) {
        this.#options.logger.error("a listener for probe results failed", error, { ...engine });
      }
    }
  }

  #log({ metadata }: Pod, queries: PodQueries, responded: boolean): void {
    const { namespace, name: pod } = metadata ?? {};
    const cause = queries.type === "failing" ? { cause: queries.cause } : {};
    this.#options.logger.debug(responded ? "pod responds to probes" : "pod does not respond to probes", {
      namespace,
      pod,
      ...cause,
    });
  }

  #forget(nowMs: number): void {
    if (nowMs - this.#forgotMs < FORGET_EVERY_MS) return;
    this.#forgotMs = nowMs;
    for (const [uid, target] of this.#targets)
      if (nowMs - target.requestedMs >= FORGET_MS && !this.#lanes.has(target)) this.#targets.delete(uid);
  }
}

function isCurrent(result: ProbeResult, request: ProbeRequest, nowMs: number): boolean {
  if (result.mode !== request.mode || result.beganMs < request.sinceMs) return false;
  if (result.readMs !== undefined) return nowMs - result.readMs < request.freshMs;
  return nowMs - result.arrivedMs < unreadMs(result.queries);
}

/**
 * A failure may wait longer for its reader: nothing is stopped or deleted because of it. Where many pods do not
 * respond, two of one engine may be probed more than a minute apart, and the first would otherwise expire before the
 * second is there, for ever.
 */
function unreadMs(queries: PodQueries): number {
  return queries.type === "failing" ? FORGET_MS : UNREAD_MS;
}

function firstNotIdle(targets: readonly Target[]): QueryProbe {
  for (const { pod, result } of targets)
    if (result !== undefined && result.queries.type !== "idle")
      return { ...result.queries, pod: pod.metadata?.name ?? "" };
  return { type: "idle" };
}

/** Of a pod that was not probed yet, its readiness is the best guess: on a node that vanished it is not ready. */
function laneOf({ responds, pod }: Target): Lane {
  return (responds ?? isReady(pod)) ? "responsive" : "unresponsive";
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}

function uidOf({ metadata }: Pod): string {
  return metadata?.uid ?? `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}
