// Whether the gateway reaches an engine that Kubernetes reports as ready: Envoy accepted its endpoints or, where it
// resolves the name, responds through it. A request that is released before would fail. Probes only while requests
// wait.
import { type Clock, type Logger, pause } from "@firebolt-operator/kube";
import { canServe } from "./availability.ts";
import type { AvailabilityChange, EngineView } from "./engine-view.ts";
import type { HoldQueue } from "./hold/queue.ts";

/** "unavailable": the gateway could not be probed, which is no information about the engine. */
export type Reached = "yes" | "not yet" | "unavailable";

export interface ReachabilityProbeOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly view: EngineView;
  readonly queue: HoldQueue;
  /** One attempt, with a deadline of its own; never rejects. */
  readonly attempt: (engine: string, signal: AbortSignal) => Promise<Reached>;
  readonly signal: AbortSignal;
}

const RETRY_MS = 100;
/**
 * Longer than a gateway usually takes to resolve an engine that has become ready. After that the request is released
 * anyway.
 */
const PATIENCE_MS = 15_000;
const POLL_EVERY_MS = 2_000;

export class ReachabilityProbe {
  readonly #options: ReachabilityProbeOptions;
  /** Engines that became ready while the agent watched, and that the gateway has not been confirmed to reach since. */
  readonly #unconfirmed = new Set<string>();
  readonly #probed = new Set<string>();
  #polling = false;

  constructor(options: ReachabilityProbeOptions) {
    this.#options = options;
    options.view.onChange((change) => this.#onChange(change));
  }

  isUnconfirmed(engine: string): boolean {
    return this.#unconfirmed.has(engine);
  }

  /** A request for this engine has arrived: probe whether the gateway reaches it, for as long as requests wait. */
  start(engine: string): void {
    if (this.#unconfirmed.has(engine) && !this.#probed.has(engine)) void this.#probeUntilReached(engine);
    if (!this.#polling) void this.#pollWhileBroken();
  }

  #onChange({ engine, from, to }: AvailabilityChange): void {
    // An engine that was ready at the first list has been so for longer than the gateway's lookups take.
    if (canServe(to) && !canServe(from) && this.#options.view.complete) this.#unconfirmed.add(engine);
    else if (!canServe(to)) this.#unconfirmed.delete(engine);
  }

  async #probeUntilReached(engine: string): Promise<void> {
    const { clock, queue, attempt, signal, logger } = this.#options;
    const began = clock.monotonicMs();
    this.#probed.add(engine);
    try {
      do {
        const reached = await attempt(engine, signal);
        const waitedMs = Math.round(clock.monotonicMs() - began);
        if (reached !== "not yet" || waitedMs >= PATIENCE_MS) {
          if (reached === "not yet") logger.info("the gateway cannot reach a ready engine", { engine, waitedMs });
          if (this.#unconfirmed.delete(engine)) queue.release(engine, "released");
          return;
        }
        await pause(clock, RETRY_MS, signal);
      } while (this.#unconfirmed.has(engine) && queue.countOf(engine) > 0 && !signal.aborted);
    } finally {
      this.#probed.delete(engine);
    }
  }

  /** With a broken watch the agent gets no events; the gateway may still reach an engine that has started. */
  async #pollWhileBroken(): Promise<void> {
    const { clock, view, queue, attempt, signal } = this.#options;
    this.#polling = true;
    try {
      while (queue.size > 0 && !signal.aborted) {
        await pause(clock, POLL_EVERY_MS, signal);
        if (!view.isWatchBroken) continue;
        const engines = queue.engines();
        const reached = await Promise.all(engines.map((engine) => attempt(engine, signal)));
        for (const [index, engine] of engines.entries())
          if (reached[index] === "yes") queue.release(engine, "released");
      }
    } finally {
      this.#polling = false;
    }
  }
}
