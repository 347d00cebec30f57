// Status and routing Service read together from the API server: the view that must be right before anything is deleted on the
// strength of "nobody refers to it".

import type { SweepView } from "./compute/sweep.ts";
import { type EngineIdentity, routingServiceName } from "./names.ts";
import type { StoredPhase } from "./phase.ts";
import { viewRouting } from "./routing.ts";
import { generationsOf, storedPhase } from "./stored-state.ts";
import type { EngineWorld } from "./world.ts";

export interface ConfirmedView extends SweepView {
  readonly phase: StoredPhase;
  /** `metadata.generation` of the engine. */
  readonly specGeneration: number | undefined;
}

/** Undefined when the engine is gone, is another one of the same name, or is being deleted. */
export async function confirmView(
  world: Pick<EngineWorld, "readEngine" | "readService">,
  identity: EngineIdentity,
): Promise<ConfirmedView | undefined> {
  const { namespace, name, uid } = identity;
  const [engine, service] = await Promise.all([
    world.readEngine({ namespace, name }),
    world.readService({ namespace, name: routingServiceName(name) }),
  ]);
  if (engine?.metadata?.uid !== uid || engine.metadata.deletionTimestamp !== undefined) return undefined;
  const routing = viewRouting(service, identity);
  const routingTarget = routing.type === "absent" ? -1 : routing.target;
  const specGeneration = engine.metadata.generation;
  return { uid, phase: storedPhase(engine), specGeneration, generations: generationsOf(engine), routingTarget };
}
