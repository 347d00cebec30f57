// Whether the gateway itself can reach an engine that Kubernetes calls ready. The gateway finds addresses through DNS and may not
// know them for some seconds; a request released before that would fail. Tried through the gateway, while somebody waits.
import { type Clock, type Logger, pause } from "@firebolt-operator/kube";
import type { EngineView, StandingChange } from "./engine-view.ts";
import { canServe } from "./standing.ts";
import type { WaitingRoom } from "./waiting-room.ts";

/** "cannot ask": there is nobody to ask, which says nothing about the engine. */
export type Reached = "yes" | "not yet" | "cannot ask";

export interface ReachOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly view: EngineView;
  readonly room: WaitingRoom;
  /** One attempt, with a deadline of its own; never rejects. */
  readonly attempt: (engine: string, signal: AbortSignal) => Promise<Reached>;
  readonly signal: AbortSignal;
}

const RETRY_MS = 100;
/** Longer than a gateway's look-up interval and a name server's memory together. After that the request takes its chance. */
const PATIENCE_MS = 15_000;
const BLIND_EVERY_MS = 2_000;

export class Reach {
  readonly #options: ReachOptions;
  /** Engines that became ready under the agent's eyes and that the gateway has not been seen to reach since. */
  readonly #doubtful = new Set<string>();
  readonly #pursued = new Set<string>();
  #looking = false;

  constructor(options: ReachOptions) {
    this.#options = options;
    options.view.onChange((change) => this.#onChange(change));
  }

  isDoubtful(engine: string): boolean {
    return this.#doubtful.has(engine);
  }

  /** Somebody asks for this engine: find out whether it can be reached, again and again while somebody waits. */
  pursue(engine: string): void {
    if (this.#doubtful.has(engine) && !this.#pursued.has(engine)) void this.#pursueUntilReached(engine);
    if (!this.#looking) void this.#lookWhileBlind();
  }

  #onChange({ engine, from, to }: StandingChange): void {
    // What was ready when the agent first looked has been so for longer than the gateway takes to notice.
    if (canServe(to) && !canServe(from) && this.#options.view.complete) this.#doubtful.add(engine);
    else if (!canServe(to)) this.#doubtful.delete(engine);
  }

  async #pursueUntilReached(engine: string): Promise<void> {
    const { clock, room, attempt, signal, logger } = this.#options;
    const began = clock.monotonicMs();
    this.#pursued.add(engine);
    try {
      do {
        const reached = await attempt(engine, signal);
        const waitedMs = Math.round(clock.monotonicMs() - began);
        if (reached !== "not yet" || waitedMs >= PATIENCE_MS) {
          if (reached === "not yet") logger.info("the gateway does not reach a ready engine", { engine, waitedMs });
          if (this.#doubtful.delete(engine)) room.release(engine, "released");
          return;
        }
        await pause(clock, RETRY_MS, signal);
      } while (this.#doubtful.has(engine) && room.countOf(engine) > 0 && !signal.aborted);
    } finally {
      this.#pursued.delete(engine);
    }
  }

  /** With a broken watch the agent is told nothing; the gateway may still reach an engine that has come up. */
  async #lookWhileBlind(): Promise<void> {
    const { clock, view, room, attempt, signal } = this.#options;
    this.#looking = true;
    try {
      while (room.size > 0 && !signal.aborted) {
        await pause(clock, BLIND_EVERY_MS, signal);
        if (!view.blind) continue;
        const engines = room.engines();
        const reached = await Promise.all(engines.map((engine) => attempt(engine, signal)));
        for (const [index, engine] of engines.entries()) if (reached[index] === "yes") room.release(engine, "released");
      }
    } finally {
      this.#looking = false;
    }
  }
}
