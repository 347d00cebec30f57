// What the engine controller knows of the poll of the gateways: which engines are in demand, and when that changes.

import type { WakeDemand } from "../auto-stop/wake-request.ts";
import type { EngineKey } from "../cluster/engine-cluster.ts";

export interface DemandSource {
  /** What gateways showed of an engine that demand could wake: the newest stamp. */
  of(engine: EngineKey): WakeDemand | undefined;
  /**
   * Called for every engine with demand that is known now, and whenever there is newer demand. Returns the way to
   * unsubscribe.
   */
  onDemand(listener: (engine: EngineKey) => void): () => void;
}
