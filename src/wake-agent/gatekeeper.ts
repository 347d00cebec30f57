// The agent's answers (docs/design/auto-stop.md#holding-queries): what a gateway is told about one request for one engine. Fails
// open: whatever the agent does not know lets the request pass.
import { ENGINE_LABEL_PATTERN, type WAKE_DECISIONS, type WakeDecision } from "../api/wake-protocol.ts";
import type { Absence } from "./absence.ts";
import type { Demand } from "./demand.ts";
import type { EngineView } from "./engine-view.ts";
import type { Reach } from "./reach.ts";
import type { Stamper } from "./stamper.ts";
import { canServe, isStartable, isWakeable } from "./standing.ts";
import type { Outcome, WaitingRoom } from "./waiting-room.ts";

export interface Answer {
  readonly status: (typeof WAKE_DECISIONS)[WakeDecision];
  readonly decision: WakeDecision;
  readonly retryAfterSeconds?: number;
}

export interface GatekeeperOptions {
  readonly view: EngineView;
  readonly absence: Pick<Absence, "isConfirmed">;
  readonly room: WaitingRoom;
  readonly reach: Reach;
  readonly demand: Demand;
  readonly stamper: Stamper;
  readonly capacity: () => number;
  readonly holdTimeoutMs: number;
}

/** For an engine at zero without auto-stop: no query starts it, so a longer hold would only take places from others. */
const UNSTARTABLE_HOLD_MS = 5_000;
const ENGINE_NAME = new RegExp(`^${ENGINE_LABEL_PATTERN}$`);

export class Gatekeeper {
  readonly #options: GatekeeperOptions;

  constructor(options: GatekeeperOptions) {
    const { view, room, reach, stamper } = options;
    this.#options = options;
    view.onChange(({ engine, to }) => {
      if (to === "unknown") room.release(engine, "gone");
      else if (!canServe(to)) stamper.consider(engine);
      else if (!reach.isDoubtful(engine)) room.release(engine, "released");
      else if (room.countOf(engine) > 0) reach.pursue(engine);
    });
  }

  /** "wait" means that the request should be held. Records nothing. Never waits, except to confirm that there is no such engine. */
  async check(engine: string): Promise<Answer> {
    const atOnce = this.#atOnce(engine);
    if (atOnce === "absent") return this.#confirmAbsence(engine, () => this.check(engine));
    return atOnce ?? { status: 202, decision: "wait" };
  }

  /** Holds the request until its engine can serve, at most for the hold timeout. */
  async hold(engine: string, left: AbortSignal): Promise<Answer> {
    const { view, room, reach, demand, stamper } = this.#options;
    const atOnce = this.#atOnce(engine);
    if (atOnce === "absent") return this.#confirmAbsence(engine, () => this.hold(engine, left));
    if (atOnce !== undefined) return atOnce;
    const isUp = canServe(view.standing(engine));
    if (!isUp) {
      // Before anything can refuse it: the wake proceeds even when this request does not wait for it.
      demand.stamp(engine);
      stamper.want(engine);
    }
    if (!this.#hasPlaceFor(engine, isUp)) {
      // Up, and only not known to be reached by the gateway yet: it may well be, and the next one will know.
      if (isUp) {
        reach.pursue(engine);
        return UNSYNCED;
      }
      return this.#shed(engine);
    }
    const waiting = room.wait({ engine, patienceMs: (waitedMs) => this.#holdMs(engine) - waitedMs, left });
    reach.pursue(engine);
    return this.#answerTo(engine, await waiting);
  }

  /**
   * A full queue still has a place for an engine that has fewer than another one: it takes one of those. So does a queue that holds
   * more than its capacity, which shrinks when Envoy takes more memory: one goes for one that comes, and the queue does not grow.
   */
  #hasPlaceFor(engine: string, isUp: boolean): boolean {
    const { room, capacity } = this.#options;
    if (room.size < capacity()) return true;
    return !isUp && room.displaceFor(engine);
  }

  #holdMs(engine: string): number {
    const { view, holdTimeoutMs } = this.#options;
    return isStartable(view.engine(engine)) ? holdTimeoutMs : Math.min(UNSTARTABLE_HOLD_MS, holdTimeoutMs);
  }

  #shed(engine: string): Answer {
    this.#options.demand.shed(engine);
    return { status: 503, decision: "shed", retryAfterSeconds: 5 };
  }

  /** "absent": the watches work as far as the agent knows, and show no such engine. Undefined: the request should be held. */
  #atOnce(engine: string): Answer | "absent" | undefined {
    const { view, reach } = this.#options;
    if (!ENGINE_NAME.test(engine)) return { status: 400, decision: "rejected" };
    const standing = view.standing(engine);
    if (!view.complete && !(view.knowsEndpoints && canServe(standing))) return UNSYNCED;
    // With a broken watch the engine may have been created since.
    if (standing === "unknown") return view.blind ? UNSYNCED : "absent";
    if (!canServe(standing) || reach.isDoubtful(engine)) return undefined;
    return { status: 200, decision: standing === "ready" ? "ready" : "leaving" };
  }

  async #confirmAbsence(engine: string, again: () => Promise<Answer>): Promise<Answer> {
    const { view, absence } = this.#options;
    const isConfirmed = await absence.isConfirmed(engine);
    // The watch may have reported it meanwhile.
    if (view.standing(engine) !== "unknown") return again();
    return isConfirmed ? { status: 404, decision: "unknown" } : UNSYNCED;
  }

  #answerTo(engine: string, outcome: Outcome): Answer {
    const { view } = this.#options;
    const standing = view.standing(engine);
    const serves = canServe(standing);
    const pass: Answer = { status: 200, decision: standing === "leaving" ? "leaving" : "released" };
    switch (outcome) {
      case "released":
        // A broken watch does not know what the gateway has just reached.
        return serves || view.blind ? pass : tryAgain(5);
      case "timeout":
        if (!serves && !isStartable(view.engine(engine)))
          return { status: 503, decision: "stopped", retryAfterSeconds: 10 };
        return serves ? pass : this.#notServed(engine);
      case "displaced":
        // Up, and only not known to be reached by the gateway yet: as without a place.
        return serves ? UNSYNCED : this.#shed(engine);
      case "gone":
        return { status: 404, decision: "unknown" };
      case "closing":
        return this.#notServed(engine);
      case "left":
        return tryAgain(10);
      default:
        return outcome satisfies never;
    }
  }

  /** Nobody has requested the start as far as the agent knows, and whoever sent the query is told why. */
  #notServed(engine: string): Answer {
    const { view, stamper } = this.#options;
    const isDenied = isWakeable(view.engine(engine)) && stamper.isDenied(engine);
    return isDenied ? { status: 503, decision: "denied", retryAfterSeconds: 10 } : tryAgain(10);
  }
}

const UNSYNCED: Answer = { status: 200, decision: "unsynced" };
const tryAgain = (retryAfterSeconds: number): Answer => ({ status: 503, decision: "timeout", retryAfterSeconds });
