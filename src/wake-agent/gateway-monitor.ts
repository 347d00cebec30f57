// Monitors the gateway in the agent's pod: its memory, for the number of requests that may be held; queries that it sent
// to names, for whether it uses the published endpoints alone; and its drain state, so that held requests get a response
// before the connection closes. Notifies it when engines change.
import { type Clock, pause } from "@firebolt-operator/kube";
import type { EngineView } from "./engine-view.ts";
import { isDraining, readStats, setChanging } from "./envoy-client.ts";
import type { HoldQueue } from "./hold/queue.ts";

export interface GatewayMonitorOptions {
  readonly clock: Clock;
  readonly queue: HoldQueue;
  readonly view: EngineView;
  readonly adminUrl: string;
}

const STATS_EVERY_MS = 2_000;
/** Older readings say nothing about now. */
const STATS_VALID_MS = 3 * STATS_EVERY_MS;
const DRAIN_EVERY_MS = 1_000;
/** After the last change: longer than the gateway's workers cache an earlier response. */
const CHANGING_MS = 3_000;
/** A gateway that terminates serves for eight more seconds. */
const DRAIN_PATIENCE_MS = 6_000;

export class GatewayMonitor {
  readonly #options: GatewayMonitorOptions;
  #allocatedBytes: number | undefined;
  #queriesByName: number | undefined;
  /** When the number above last grew, or was first read; and when it was last read. */
  #byNameMs = Number.NEGATIVE_INFINITY;
  #readMs = Number.NEGATIVE_INFINITY;

  constructor(options: GatewayMonitorOptions) {
    this.#options = options;
  }

  /** Undefined before the first reading; the last reading while the gateway does not respond. */
  get allocatedBytes(): number | undefined {
    return this.#allocatedBytes;
  }

  /** Undefined before the first reading. */
  get queriesByName(): number | undefined {
    return this.#queriesByName;
  }

  /** For how long no query was sent to a name, as far as Envoy's counter shows; 0 while that is unknown. */
  get withoutNamesMs(): number {
    const now = this.#options.clock.monotonicMs();
    return now - this.#readMs > STATS_VALID_MS ? 0 : Math.max(0, this.#readMs - this.#byNameMs);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#watchStats(signal), this.#watchDrain(signal), this.#publishChanges(signal)]);
  }

  /** A lost notification costs up to a second in which a query may still be routed to an engine that stops. */
  async #publishChanges(signal: AbortSignal): Promise<void> {
    const { clock, view, adminUrl } = this.#options;
    let seen = view.epoch;
    // An earlier agent may have exited in the middle of a change.
    await setChanging(adminUrl, false, signal);
    while (!signal.aborted) {
      await view.epochAbove(seen, signal);
      await setChanging(adminUrl, true, signal);
      do {
        seen = view.epoch;
        await pause(clock, CHANGING_MS, signal);
      } while (view.epoch > seen && !signal.aborted);
      await setChanging(adminUrl, false, signal);
    }
  }

  async #watchStats(signal: AbortSignal): Promise<void> {
    const { clock, adminUrl } = this.#options;
    while (!signal.aborted) {
      const stats = await readStats(adminUrl, signal);
      if (stats !== undefined) {
        this.#allocatedBytes = stats.allocatedBytes ?? this.#allocatedBytes;
        this.#readMs = clock.monotonicMs();
        // Also when it is smaller: Envoy was restarted.
        if (stats.queriesByName !== this.#queriesByName) this.#byNameMs = this.#readMs;
        this.#queriesByName = stats.queriesByName;
      }
      await pause(clock, STATS_EVERY_MS, signal);
    }
  }

  async #watchDrain(signal: AbortSignal): Promise<void> {
    const { clock, queue, adminUrl } = this.#options;
    let since: number | undefined;
    while (!signal.aborted) {
      await pause(clock, DRAIN_EVERY_MS, signal);
      // Without held requests there is nothing to release.
      if (queue.size === 0) continue;
      since = (await isDraining(adminUrl, signal)) ? (since ?? clock.monotonicMs()) : undefined;
      if (since !== undefined && clock.monotonicMs() - since >= DRAIN_PATIENCE_MS) queue.releaseAll("shutdown");
    }
  }
}
