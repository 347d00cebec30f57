// Monitors the gateway in the agent's pod: its memory, for the number of requests that may be held, and its drain
// state, so that held requests get a response before the connection closes. Notifies it when engines change.
import { type Clock, pause } from "@firebolt-operator/kube";
import type { EngineView } from "./engine-view.ts";
import { isDraining, readAllocatedBytes, setChanging } from "./envoy-client.ts";
import type { HoldQueue } from "./hold-queue.ts";

export interface GatewayMonitorOptions {
  readonly clock: Clock;
  readonly queue: HoldQueue;
  readonly view: EngineView;
  readonly adminUrl: string;
}

const MEMORY_EVERY_MS = 5_000;
const DRAIN_EVERY_MS = 1_000;
/** After the last change: longer than the gateway's workers cache an earlier response. */
const CHANGING_MS = 3_000;
/** A gateway that terminates serves for eight more seconds. */
const DRAIN_PATIENCE_MS = 6_000;

export class GatewayMonitor {
  readonly #options: GatewayMonitorOptions;
  #allocatedBytes: number | undefined;

  constructor(options: GatewayMonitorOptions) {
    this.#options = options;
  }

  /** Undefined before the first reading; the last reading while the gateway does not respond. */
  get allocatedBytes(): number | undefined {
    return this.#allocatedBytes;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#watchMemory(signal), this.#watchDrain(signal), this.#publishChanges(signal)]);
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

  async #watchMemory(signal: AbortSignal): Promise<void> {
    const { clock, adminUrl } = this.#options;
    while (!signal.aborted) {
      this.#allocatedBytes = (await readAllocatedBytes(adminUrl, signal)) ?? this.#allocatedBytes;
      await pause(clock, MEMORY_EVERY_MS, signal);
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
