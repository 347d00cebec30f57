// Admission of queries (docs/design/auto-stop.md#holding-queries): whether a query for an engine passes, is held, or
// gets an error. Fails open: a query passes when the agent does not know enough.
import { ENGINE_LABEL_PATTERN, type WAKE_DECISIONS, type WakeDecision } from "../../api/wake-protocol.ts";
import type { AbsenceCheck } from "../absence-check.ts";
import { canServe, isStartable, isWakeable } from "../availability.ts";
import type { Demand } from "../demand.ts";
import type { EngineView } from "../engine-view.ts";
import type { ReachabilityProbe } from "../reachability-probe.ts";
import type { WakeRequester } from "../wake-requester.ts";
import type { HoldQueue, Outcome } from "./queue.ts";

/** The response to the gateway. What the client gets, Retry-After included, is written by the gateway (wake.lua). */
export interface HoldResponse {
  readonly status: (typeof WAKE_DECISIONS)[WakeDecision];
  readonly decision: WakeDecision;
}

export interface HoldAdmissionOptions {
  readonly view: EngineView;
  readonly absence: Pick<AbsenceCheck, "isConfirmed">;
  readonly queue: HoldQueue;
  readonly probe: ReachabilityProbe;
  readonly demand: Demand;
  readonly wakeRequester: WakeRequester;
  readonly capacity: () => number;
  readonly holdTimeoutMs: number;
}

/**
 * For an engine with zero replicas and no auto-stop: no query starts it, so a longer hold would only occupy places in
 * the queue.
 */
const UNSTARTABLE_HOLD_MS = 5_000;
const ENGINE_NAME = new RegExp(`^${ENGINE_LABEL_PATTERN}$`);

export class HoldAdmission {
  readonly #options: HoldAdmissionOptions;

  constructor(options: HoldAdmissionOptions) {
    const { view, queue, probe, wakeRequester } = options;
    this.#options = options;
    view.onChange(({ engine, to }) => {
      if (to === "unknown") queue.release(engine, "deleted");
      else if (!canServe(to)) wakeRequester.requestIfDue(engine);
      else if (!probe.isUnconfirmed(engine)) queue.release(engine, "released");
      else if (queue.countOf(engine) > 0) probe.start(engine);
    });
  }

  /**
   * "wait" means that the request should be held. Records nothing, and waits only to confirm that an engine does not
   * exist.
   */
  async check(engine: string): Promise<HoldResponse> {
    const atOnce = this.#atOnce(engine);
    if (atOnce === "absent") return this.#confirmAbsence(engine, () => this.check(engine));
    return atOnce ?? { status: 202, decision: "wait" };
  }

  /** Holds the request until its engine can serve, at most for the hold timeout. */
  async hold(engine: string, disconnected: AbortSignal): Promise<HoldResponse> {
    const { view, queue, probe, demand, wakeRequester } = this.#options;
    const atOnce = this.#atOnce(engine);
    if (atOnce === "absent") return this.#confirmAbsence(engine, () => this.hold(engine, disconnected));
    if (atOnce !== undefined) return atOnce;
    const isUp = canServe(view.availability(engine));
    if (!isUp) {
      // Before the request can be rejected: the wake proceeds even if this request does not wait for it.
      demand.record(engine);
      wakeRequester.request(engine);
    }
    if (!this.#hasPlaceFor(engine, isUp)) {
      // The engine is up, but it is not yet confirmed that the gateway reaches it: this request passes, and the probe
      // confirms it.
      if (isUp) {
        probe.start(engine);
        return UNSYNCED;
      }
      return this.#shed(engine);
    }
    const waiting = queue.wait({ engine, patienceMs: (waitedMs) => this.#holdMs(engine) - waitedMs, disconnected });
    probe.start(engine);
    return this.#responseTo(engine, await waiting);
  }

  /**
   * A full queue still admits a request for an engine that has fewer held requests than another one, in place of one of
   * those. The same holds for a queue above its capacity, which shrinks as Envoy's memory grows: one replaces another,
   * and the queue does not grow.
   */
  #hasPlaceFor(engine: string, isUp: boolean): boolean {
    const { queue, capacity } = this.#options;
    if (queue.size < capacity()) return true;
    return !isUp && queue.displaceFor(engine);
  }

  #holdMs(engine: string): number {
    const { view, holdTimeoutMs } = this.#options;
    return isStartable(view.engine(engine)) ? holdTimeoutMs : Math.min(UNSTARTABLE_HOLD_MS, holdTimeoutMs);
  }

  #shed(engine: string): HoldResponse {
    this.#options.demand.shed(engine);
    return { status: 503, decision: "shed" };
  }

  /**
   * "absent": the watches work as far as the agent knows, and no such engine is in them. Undefined: the request should
   * be held.
   */
  #atOnce(engine: string): HoldResponse | "absent" | undefined {
    const { view, probe } = this.#options;
    if (!ENGINE_NAME.test(engine)) return { status: 400, decision: "rejected" };
    const availability = view.availability(engine);
    if (!view.complete && !(view.knowsEndpoints && canServe(availability))) return UNSYNCED;
    // With a broken watch the engine may have been created since.
    if (availability === "unknown") return view.isWatchBroken ? UNSYNCED : "absent";
    if (!canServe(availability) || probe.isUnconfirmed(engine)) return undefined;
    return { status: 200, decision: availability === "ready" ? "ready" : "leaving" };
  }

  async #confirmAbsence(engine: string, again: () => Promise<HoldResponse>): Promise<HoldResponse> {
    const { view, absence } = this.#options;
    const isConfirmed = await absence.isConfirmed(engine);
    // The watch may have delivered it meanwhile.
    if (view.availability(engine) !== "unknown") return again();
    return isConfirmed ? { status: 404, decision: "unknown" } : UNSYNCED;
  }

  #responseTo(engine: string, outcome: Outcome): HoldResponse {
    const { view } = this.#options;
    const availability = view.availability(engine);
    const serves = canServe(availability);
    const pass: HoldResponse = { status: 200, decision: availability === "stopping" ? "leaving" : "released" };
    switch (outcome) {
      case "released":
        // A broken watch does not show what the probe has just reached.
        return serves || view.isWatchBroken ? pass : TIMEOUT;
      case "timeout":
        if (!serves && !isStartable(view.engine(engine))) return { status: 503, decision: "stopped" };
        return serves ? pass : this.#notServed(engine);
      case "displaced":
        // Up, but not yet confirmed that the gateway reaches it: passes, as it does without a place in the queue.
        return serves ? UNSYNCED : this.#shed(engine);
      case "deleted":
        return { status: 404, decision: "unknown" };
      case "shutdown":
        return this.#notServed(engine);
      case "disconnected":
        return TIMEOUT;
      default:
        return outcome satisfies never;
    }
  }

  /** "denied": the start has not been requested, as far as the agent knows, and the client learns why. */
  #notServed(engine: string): HoldResponse {
    const { view, wakeRequester } = this.#options;
    const isDenied = isWakeable(view.engine(engine)) && wakeRequester.isDenied(engine);
    return isDenied ? { status: 503, decision: "denied" } : TIMEOUT;
  }
}

const UNSYNCED: HoldResponse = { status: 200, decision: "unsynced" };
const TIMEOUT: HoldResponse = { status: 503, decision: "timeout" };
