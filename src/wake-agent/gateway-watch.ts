// Keeps an eye on the gateway beside the agent: how much memory it has taken, for the number of requests that may be held, and
// whether it is about to end, so that held requests get an answer instead of a broken connection. Tells it when engines change.
import { type Clock, pause } from "@firebolt-operator/kube";
import type { EngineView } from "./engine-view.ts";
import { isDraining, readAllocatedBytes, tellChanging } from "./envoy.ts";
import type { WaitingRoom } from "./waiting-room.ts";

export interface GatewayWatchOptions {
  readonly clock: Clock;
  readonly room: WaitingRoom;
  readonly view: EngineView;
  readonly adminUrl: string;
}

const MEMORY_EVERY_MS = 5_000;
const DRAIN_EVERY_MS = 1_000;
/** After the last change: longer than the gateway's workers believe what they were told before. */
const CHANGING_MS = 3_000;
/** A gateway that is told to end serves for eight more seconds. */
const DRAIN_PATIENCE_MS = 6_000;

export class GatewayWatch {
  readonly #options: GatewayWatchOptions;
  #allocatedBytes: number | undefined;

  constructor(options: GatewayWatchOptions) {
    this.#options = options;
  }

  /** Undefined before the first reading; the last one while the gateway does not answer. */
  get allocatedBytes(): number | undefined {
    return this.#allocatedBytes;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#watchMemory(signal), this.#watchDrain(signal), this.#tellChanges(signal)]);
  }

  /** A message that is lost costs up to a second in which a query may still go to an engine that stops. */
  async #tellChanges(signal: AbortSignal): Promise<void> {
    const { clock, view, adminUrl } = this.#options;
    let seen = view.epoch;
    // An earlier agent may have died in the middle of a change.
    await tellChanging(adminUrl, false, signal);
    while (!signal.aborted) {
      await view.epochAbove(seen, signal);
      await tellChanging(adminUrl, true, signal);
      do {
        seen = view.epoch;
        await pause(clock, CHANGING_MS, signal);
      } while (view.epoch > seen && !signal.aborted);
      await tellChanging(adminUrl, false, signal);
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
    const { clock, room, adminUrl } = this.#options;
    let since: number | undefined;
    while (!signal.aborted) {
      await pause(clock, DRAIN_EVERY_MS, signal);
      // Nobody waits: nobody has to be told.
      if (room.size === 0) continue;
      since = (await isDraining(adminUrl, signal)) ? (since ?? clock.monotonicMs()) : undefined;
      if (since !== undefined && clock.monotonicMs() - since >= DRAIN_PATIENCE_MS) room.releaseAll("closing");
    }
  }
}
