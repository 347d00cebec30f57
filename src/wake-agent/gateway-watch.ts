// Keeps an eye on the gateway beside the agent: how much memory it has taken, for the number of requests that may be held, and
// whether it is about to end, so that held requests get an answer instead of a broken connection.
import type { Clock } from "../kube/clock.ts";
import { pause } from "../kube/until-aborted.ts";
import { isDraining, readAllocatedBytes } from "./envoy.ts";
import type { WaitingRoom } from "./waiting-room.ts";

export interface GatewayWatchOptions {
  readonly clock: Clock;
  readonly room: WaitingRoom;
  readonly adminUrl: string;
}

const MEMORY_EVERY_MS = 5_000;
const DRAIN_EVERY_MS = 1_000;
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
    await Promise.all([this.#watchMemory(signal), this.#watchDrain(signal)]);
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
