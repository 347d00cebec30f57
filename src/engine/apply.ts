// Carries a decision out: the routing Service of what serves, then ConfigMap, headless Service, StatefulSet, deletes, and the status
// last, so that a crash in between repeats the row instead of losing it. Every write is one awaited call; the first that fails ends
// the pass.
import type { V1ConfigMap, V1Service } from "../api/generated/kubernetes.ts";
import { InvariantError } from "../kube/errors.ts";
import { type ChildKind, type Engine, isOwnedBy, type OwnedMetadata } from "./children.ts";
import { type ConfirmedView, confirmView } from "./confirm-view.ts";
import type {
  Apply,
  EngineDecision,
  Ensure,
  NextStatus,
  Obstacle,
  Recheck,
  Removal,
  RoutingWrite,
  WritableDecision,
} from "./decision.ts";
import type { EngineIdentity } from "./names.ts";
import { isLegalMove, type StoredPhase } from "./phase.ts";
import type { EngineSnapshot, Generations } from "./snapshot.ts";
import { writeStatus } from "./status-write.ts";
import type { CreateAnswer, EngineKey, EngineWorld } from "./world.ts";

/** Something under a name that the engine needs is not the engine's. */
export class ChildInTheWayError extends Error {
  override readonly name = "ChildInTheWayError";
  readonly obstacle: Obstacle;
  constructor(namespace: string, obstacle: Obstacle) {
    super(`${obstacle.kind} ${namespace}/${obstacle.name} ${obstacle.problem}`);
    this.obstacle = obstacle;
  }
}

const MOVED_ON = "the engine has moved on";

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
  // Another number of replicas comes first: a repair that is refused must not keep a query from waking the engine.
  const { base, status, scaled } = await scale(decision, snapshot.engine, world);
  if (scaled?.type !== "done") {
    const stale = await writeObjects(decision, snapshot, world);
    if (stale !== undefined) return { type: "discarded", because: stale };
  }
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
      if (view === undefined || !isUnmoved(view, snapshot)) return MOVED_ON;
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
  { obstacle, configMap, headlessService, statefulSet, routing }: Ensure,
  snapshot: EngineSnapshot,
  world: EngineWorld,
): Promise<string | undefined> {
  const { identity } = snapshot;
  const route = async () => (routing === undefined ? undefined : writeRouting(routing, snapshot, world));
  // Before the first cut-over nothing serves, and the Service comes last.
  const serves = snapshot.generations.active >= 0;
  const unrouted = serves ? await route() : undefined;
  if (unrouted !== undefined) return unrouted;
  if (obstacle !== undefined) throw new ChildInTheWayError(identity.namespace, obstacle);
  if (configMap !== undefined) await ensureConfigMap(configMap, identity, world);
  if (headlessService !== undefined) await ensureService(headlessService, identity, world);
  if (statefulSet !== undefined) {
    const request = world.createStatefulSet(statefulSet);
    // It is never changed: the next pass, which has seen it, judges it.
    if ((await created("StatefulSet", request, statefulSet, identity, world)) === "own")
      return "the StatefulSet exists already";
  }
  return serves ? undefined : await route();
}

async function ensureConfigMap({ object, exists }: Apply<V1ConfigMap>, identity: EngineIdentity, world: EngineWorld) {
  const answer = exists ? "own" : await created("ConfigMap", world.createConfigMap(object), object, identity, world);
  if (answer !== "created") await world.applyConfigMap(object);
}

async function ensureService({ object, exists }: Apply<V1Service>, identity: EngineIdentity, world: EngineWorld) {
  const answer = exists ? "own" : await created("Service", world.createService(object), object, identity, world);
  if (answer !== "created") await world.applyService(object);
}

/**
 * Whether it was created or is the engine's own already: the cache was behind, or the object lost its label and no cache will ever show
 * it. What another owner holds, or is on its way out, stands in the way.
 */
async function created(
  kind: ChildKind,
  answer: Promise<CreateAnswer>,
  { metadata }: { readonly metadata?: { readonly name?: string } },
  { namespace, uid }: EngineIdentity,
  world: EngineWorld,
): Promise<"created" | "own"> {
  if ((await answer) === "created") return "created";
  const name = metadata?.name ?? "";
  const found = await readChild(kind, { namespace, name }, world);
  if (found === undefined) return "own";
  const problem = obstacleOf(found.metadata, uid);
  if (problem !== undefined) throw new ChildInTheWayError(namespace, { kind, name, problem });
  return "own";
}

function obstacleOf(metadata: OwnedMetadata | undefined, uid: string): Obstacle["problem"] | undefined {
  if (!isOwnedBy(metadata, uid)) return "belongs to another owner";
  return metadata?.deletionTimestamp === undefined ? undefined : "is still being deleted";
}

function readChild(kind: ChildKind, key: EngineKey, world: EngineWorld) {
  switch (kind) {
    case "StatefulSet":
      return world.readStatefulSet(key);
    case "Service":
      return world.readService(key);
    case "ConfigMap":
      return world.readConfigMap(key);
    default:
      return kind satisfies never;
  }
}

/**
 * A pass that has not seen the last step of a rollout would send queries back to a generation that drains or is gone. Forward is
 * harmless, because the switch is recorded only after it was read back; before traffic goes back, or a missing Service is put back,
 * the engine itself is read.
 */
async function writeRouting(
  routing: RoutingWrite,
  snapshot: EngineSnapshot,
  world: EngineWorld,
): Promise<string | undefined> {
  const target = snapshot.routing.type === "live" ? snapshot.routing.target : -1;
  const isForward = target >= 0 && target <= routing.generation;
  if (!isForward && snapshot.generations.active >= 0) {
    const view = await confirmView(world, snapshot.identity);
    if (view === undefined || !isUnmoved(view, snapshot)) return MOVED_ON;
  }
  const answer = await world.writeRoutingService(routing);
  return answer === "conflict" ? "the routing Service has changed" : undefined;
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

/**
 * The phase too: when the switch to a generation has begun, a stale pass must not give it up (nor with queries going to it). And the
 * spec: a generation must not be given up for an edit that has been taken back.
 */
function isUnmoved(view: ConfirmedView, { engine, phase, generations, routing }: EngineSnapshot): boolean {
  const { current, active, draining } = view.generations;
  return (
    view.specGeneration === engine.metadata?.generation &&
    view.phase === phase &&
    current === generations.current &&
    active === generations.active &&
    draining === generations.draining &&
    view.routingTarget === (routing.type === "absent" ? -1 : routing.target)
  );
}

/** The table of moves and the arithmetic of generations, as the last line before any write. */
function guardMove({ phase: from, generations }: EngineSnapshot, status: NextStatus): void {
  const { phase: to, currentGeneration: current, activeGeneration: active } = status;
  if (!isLegalMove(from, to)) throw new InvariantError(`illegal move from ${from} to ${to}`);
  const stays = current === generations.current;
  const isNext = current === generations.highest + 1 && mayBump(from);
  const isForward = (stays || isNext) && active >= generations.active && active <= current;
  if (!isForward && !isTakenBack(generations, status, from))
    throw new InvariantError(
      `illegal step from generations ${generations.current}/${generations.active} to ${current}/${active} in ${from}`,
    );
}

/** The draining generation and the one that was to replace it change places. */
function isTakenBack(before: Generations, status: NextStatus, from: StoredPhase): boolean {
  const { currentGeneration, activeGeneration, drainingGeneration } = status;
  const changed = currentGeneration === before.draining && drainingGeneration === before.current;
  const isKept = Math.max(currentGeneration, status.highestGeneration ?? 0) === before.highest;
  return (
    from === "draining" && status.phase === "draining" && changed && isKept && activeGeneration === currentGeneration
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
