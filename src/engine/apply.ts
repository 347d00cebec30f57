// Carries a decision out: ConfigMap, headless Service, StatefulSet, routing Service, deletes, and the status last, so that a
// crash in between repeats the row instead of losing it. Every write is one awaited call; the first that fails ends the pass.
import { InvariantError } from "../kube/errors.ts";
import { type Engine, isOwnedBy } from "./children.ts";
import { type ConfirmedView, confirmView } from "./confirm-view.ts";
import type { EngineDecision, Ensure, NextStatus, Obstacle, Recheck, Removal, WritableDecision } from "./decision.ts";
import { isLegalMove, type StoredPhase } from "./phase.ts";
import type { EngineSnapshot } from "./snapshot.ts";
import { writeStatus } from "./status-write.ts";
import type { EngineWorld } from "./world.ts";

/** Something under a name that the engine needs is not the engine's. Retried with back-off, and at once when it goes. */
export class ChildInTheWayError extends Error {
  override readonly name = "ChildInTheWayError";
  constructor(namespace: string, { kind, name, problem }: Obstacle) {
    super(`${kind} ${namespace}/${name} ${problem}`);
  }
}

export type Applied =
  | {
      readonly type: "done";
      readonly recheck: Recheck;
      readonly statusWritten: boolean;
      readonly engine: Engine;
      readonly scaled?: Scaled;
    }
  /** What was read is no longer so: nothing was recorded, and the next pass starts afresh. */
  | { readonly type: "discarded"; readonly because: string }
  | { readonly type: "gone" };

/** What became of another number of replicas. */
export type Scaled = { readonly type: "done" } | { readonly type: "refused"; readonly because: unknown };

export async function applyDecision(
  decision: EngineDecision,
  snapshot: EngineSnapshot,
  world: EngineWorld,
): Promise<Applied> {
  if (decision.type === "broken") throw new InvariantError(`${decision.row}: ${decision.detail}`);
  guardMove(snapshot, decision.status);
  const stale = await writeObjects(decision, snapshot, world);
  if (stale !== undefined) return { type: "discarded", because: stale };
  const { base, status, scaled } = await scale(decision, snapshot.engine, world);
  const recheck = scaled?.type === "done" ? "now" : recheckOf(decision);
  const outcome = await writeStatus(world, base, status, snapshot.nowMs);
  switch (outcome.type) {
    case "discarded":
      return { type: "discarded", because: "another status was stored meanwhile" };
    case "gone":
      return outcome;
    case "written":
      return { type: "done", recheck, statusWritten: true, engine: outcome.engine, ...(scaled && { scaled }) };
    case "unchanged":
      return { type: "done", recheck, statusWritten: false, engine: base, ...(scaled && { scaled }) };
    default:
      return outcome satisfies never;
  }
}

/** The spec before the status: a crash in between loses a time stamp, never the decision (B22). */
async function scale(decision: WritableDecision, engine: Engine, world: EngineWorld) {
  const unscaled = { base: engine, status: decision.status, scaled: undefined };
  if (decision.type !== "hold" || decision.scale === undefined) return unscaled;
  const answer = await world.patchReplicas(engine, decision.scale.to);
  if (answer.type === "refused") return { ...unscaled, scaled: answer };
  return { base: answer.engine, status: decision.scale.status, scaled: { type: "done" } as const };
}

/** The reason why the pass must be discarded, if there is one. */
async function writeObjects(
  decision: WritableDecision,
  snapshot: EngineSnapshot,
  world: EngineWorld,
): Promise<string | undefined> {
  switch (decision.type) {
    case "initialise":
    case "refuse":
    case "bump":
      return undefined;
    case "hold":
    case "move":
      return ensureObjects(decision.ensure, snapshot, world);
    case "abandon": {
      // Giving a generation up on an old view could hit the one that serves by now.
      const view = await confirmView(world, snapshot.identity);
      if (view === undefined || !isUnmoved(view, snapshot)) return "the engine has moved on";
      const { routing } = decision;
      const stale = await ensureObjects(routing === undefined ? {} : { routing }, snapshot, world);
      return stale ?? removeObjects(decision.remove, snapshot, world);
    }
    case "clean":
      return (await ensureObjects(decision.ensure, snapshot, world)) ?? removeObjects(decision.remove, snapshot, world);
    default:
      return decision satisfies never;
  }
}

async function ensureObjects(
  ensure: Ensure,
  { identity }: EngineSnapshot,
  world: EngineWorld,
): Promise<string | undefined> {
  const { obstacle, configMap, headlessService, statefulSet, routing } = ensure;
  if (obstacle !== undefined) throw new ChildInTheWayError(identity.namespace, obstacle);
  if (configMap !== undefined) await world.applyConfigMap(configMap.object, configMap.exists);
  if (headlessService !== undefined) await world.applyService(headlessService.object, headlessService.exists);
  if (statefulSet !== undefined) {
    const answer = await world.createStatefulSet(statefulSet);
    if (answer === "exists") return existing(statefulSet.metadata?.name ?? "", identity, world);
  }
  if (routing === undefined) return undefined;
  const answer = await world.writeRoutingService(routing);
  return answer === "conflict" ? "the routing Service has changed" : undefined;
}

/** The cache was behind, or somebody else holds the name and no cache will ever show it. */
async function existing(name: string, identity: EngineSnapshot["identity"], world: EngineWorld): Promise<string> {
  const { namespace, uid } = identity;
  const found = await world.readStatefulSet({ namespace, name });
  const isForeign = found !== undefined && !isOwnedBy(found.metadata, uid);
  if (isForeign)
    throw new ChildInTheWayError(namespace, { kind: "StatefulSet", name, problem: "belongs to another owner" });
  return "the StatefulSet exists already";
}

async function removeObjects(
  removals: readonly Removal[],
  { identity }: EngineSnapshot,
  world: EngineWorld,
): Promise<string | undefined> {
  for (const removal of removals) {
    const answer = await world.remove(identity.namespace, removal);
    // Without a version a conflict only says that the object seen is gone and another has its name.
    if (answer === "conflict" && removal.resourceVersion !== undefined)
      return `${removal.kind} ${removal.name} has changed`;
  }
  return undefined;
}

/** The phase too: when the switch to a generation has begun, a stale pass must not give it up (nor with queries going to it). */
function isUnmoved(view: ConfirmedView, { phase, generations, routing }: EngineSnapshot): boolean {
  const { current, active, draining } = view.generations;
  return (
    view.phase === phase &&
    current === generations.current &&
    active === generations.active &&
    draining === generations.draining &&
    view.routingTarget === (routing.type === "absent" ? -1 : routing.target)
  );
}

/** The table of moves and the arithmetic of generations, as the last line before any write. */
function guardMove(snapshot: EngineSnapshot, status: NextStatus): void {
  const { phase: from, generations } = snapshot;
  const { phase: to, currentGeneration, activeGeneration } = status;
  if (!isLegalMove(from, to)) throw new InvariantError(`illegal move from ${from} to ${to}`);
  const step = currentGeneration - generations.current;
  const counted = step === 0 || (step === 1 && mayBump(from));
  if (!counted || activeGeneration < generations.active || activeGeneration > currentGeneration)
    throw new InvariantError(
      `illegal step from generations ${generations.current}/${generations.active} to ${currentGeneration}/${activeGeneration} in ${from}`,
    );
}

const mayBump = (phase: StoredPhase): boolean => phase === "creating" || phase === "stable" || phase === "stopped";

function recheckOf(decision: WritableDecision): Recheck {
  switch (decision.type) {
    case "refuse":
    case "hold":
    case "move":
      return decision.recheck;
    case "initialise":
    case "bump":
    case "abandon":
    case "clean":
      return "now";
    default:
      return decision satisfies never;
  }
}
