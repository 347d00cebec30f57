// Status and routing Service read together from the API server: the view that must be right before anything is deleted
// on the strength of "nothing refers to it".

import type { EngineCluster } from "../cluster/engine-cluster.ts";
import type { SweepView } from "../compute/sweep.ts";
import { type EngineIdentity, routingServiceName } from "../model/names.ts";
import type { StoredPhase } from "../model/phase.ts";
import { viewRouting } from "../model/routing.ts";
import type { Generations } from "../model/snapshot.ts";
import { generationsOf, storedPhase } from "../model/stored-state.ts";

/** What the API server has of the engine. */
export interface ConfirmedEngine {
  readonly uid: string;
  readonly phase: StoredPhase;
  readonly generations: Generations;
  /** `metadata.generation` of the engine. */
  readonly specGeneration: number | undefined;
}

export interface ConfirmedView extends ConfirmedEngine, SweepView {}

/** Undefined when the engine does not exist, is another one of the same name, or is being deleted. */
export async function confirmEngine(
  cluster: Pick<EngineCluster, "readEngine">,
  { namespace, name, uid }: EngineIdentity,
): Promise<ConfirmedEngine | undefined> {
  const engine = await cluster.readEngine({ namespace, name });
  if (engine?.metadata?.uid !== uid || engine.metadata.deletionTimestamp !== undefined) return undefined;
  const { generation: specGeneration } = engine.metadata;
  return { uid, phase: storedPhase(engine), specGeneration, generations: generationsOf(engine) };
}

/** The engine as above, and where its routing Service sends queries. */
export async function confirmView(
  cluster: Pick<EngineCluster, "readEngine" | "readChild">,
  identity: EngineIdentity,
): Promise<ConfirmedView | undefined> {
  const { namespace, name } = identity;
  const [engine, service] = await Promise.all([
    confirmEngine(cluster, identity),
    cluster.readChild("Service", { namespace, name: routingServiceName(name) }),
  ]);
  if (engine === undefined) return undefined;
  const routing = viewRouting(service, identity);
  return { ...engine, routingTarget: routing.type === "absent" ? -1 : routing.target };
}
