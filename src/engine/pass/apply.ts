// Carries a decision out: the routing Service of what serves, then ConfigMap, headless Service, StatefulSet, deletes,
// and the status last, so that a crash in between repeats the step instead of losing it. Every write is one awaited
// call; the first that fails ends the pass.
import { InvariantError, isRejection } from "@firebolt-operator/kube";
import { LABEL } from "../../api/labels.ts";
import type { CreateResult, EngineCluster } from "../cluster/engine-cluster.ts";
import { withFailure } from "../compute/failure-suffix.ts";
import { type ChildKind, PART_NAMES, PARTS, type Part, type PartKind, type PartObject } from "../model/child-kinds.ts";
import { type Engine, isOwnedBy } from "../model/children.ts";
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
} from "../model/decision.ts";
import type { EngineIdentity } from "../model/names.ts";
import { isLegalMove, type StoredPhase } from "../model/phase.ts";
import { shownOf } from "../model/shown-state.ts";
import type { EngineSnapshot, Generations, RejectedWrite } from "../model/snapshot.ts";
import { scaleFailureText } from "../report/failure.ts";
import { type ConfirmedEngine, type ConfirmedView, confirmEngine, confirmView } from "./confirm-view.ts";
import { writeStatus } from "./status-write.ts";

/** An object with a name that the engine needs does not belong to the engine. */
class ChildInTheWayError extends Error {
  override readonly name = "ChildInTheWayError";
  readonly obstacle: Obstacle;
  constructor(namespace: string, obstacle: Obstacle) {
    const problem = obstacle.type === "foreign" ? "belongs to another owner" : "is still being deleted";
    super(`${obstacle.kind} ${namespace}/${obstacle.name} ${problem}`);
    this.obstacle = obstacle;
  }
}

const MOVED_ON = "the engine has changed since it was read";

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

export type ObjectsOutcome =
  | { readonly type: "written" }
  | (Applied & { readonly type: "discarded" })
  /** The same write would fail again: compute decides what that means for the engine. */
  | { readonly type: "rejected"; readonly rejected: RejectedWrite };

/** Everything but the status, which follows when all of it was written. */
export async function applyObjects(
  decision: EngineDecision,
  snapshot: EngineSnapshot,
  cluster: EngineCluster,
): Promise<ObjectsOutcome> {
  try {
    const because = await writeObjects(checked(decision, snapshot), snapshot, cluster);
    return because === undefined ? { type: "written" } : { type: "discarded", because };
  } catch (error) {
    const rejected = rejectedWrite(error);
    if (rejected === undefined) throw error;
    return { type: "rejected", rejected };
  }
}

/** Undefined: a failure that a retry may end. */
function rejectedWrite(error: unknown): RejectedWrite | undefined {
  if (error instanceof ChildInTheWayError)
    return { type: "nameInUse", obstacle: error.obstacle, message: error.message };
  return isRejection(error) ? { type: "rejected", message: error.message } : undefined;
}

export async function applyStatus(
  decision: EngineDecision,
  snapshot: EngineSnapshot,
  cluster: EngineCluster,
): Promise<Applied> {
  const step = checked(decision, snapshot);
  const { base, status, scaled } = await scale(step, snapshot.engine, cluster);
  const recheck = scaled?.type === "done" ? "requeue" : recheckOf(step);
  const outcome = await writeStatus(cluster, base, status, snapshot.nowMs);
  switch (outcome.type) {
    case "discarded":
      return { type: "discarded", because: "another status was stored in the meantime" };
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

/** The last check before any write. */
function checked(decision: EngineDecision, snapshot: EngineSnapshot): WritableDecision {
  if (decision.type === "broken") throw new InvariantError(`${decision.step}: ${decision.detail}`);
  guardMove(snapshot, decision.status);
  return decision;
}

/** The spec before the status: a crash in between loses a time stamp, never the decision. */
async function scale(decision: WritableDecision, engine: Engine, cluster: EngineCluster) {
  const unscaled = { base: engine, status: decision.status, scaled: undefined };
  if (decision.type !== "hold" || decision.scale === undefined) return unscaled;
  const result = await cluster.patchReplicas(engine, decision.scale.to);
  if (result.type === "refused") {
    const text = scaleFailureText(decision.scale, result.because);
    const status =
      text === undefined ? decision.status : { ...decision.status, ...withFailure(shownOf(decision.status), text) };
    return { ...unscaled, status, scaled: result };
  }
  return { base: result.engine, status: decision.scale.status, scaled: { type: "done" } as const };
}

/** The reason why the pass must be discarded, if there is one. */
async function writeObjects(
  decision: WritableDecision,
  snapshot: EngineSnapshot,
  cluster: EngineCluster,
): Promise<string | undefined> {
  switch (decision.type) {
    case "initialise":
    case "refuse":
    case "bump":
      return undefined;
    case "hold":
    case "move":
      return ensureObjects(decision.ensure, snapshot, cluster);
    case "abandon": {
      // Giving a generation up on an old view could hit the one that serves by now.
      const view = await confirmView(cluster, snapshot.identity);
      if (view === undefined || !isUnmoved(view, snapshot) || !isStillRouted(view, snapshot)) return MOVED_ON;
      // The engine has just been read: the routing Service needs no confirmation of its own.
      const result = decision.routing && (await cluster.writeRoutingService(decision.routing));
      const stale = result === "conflict" ? "the routing Service has changed" : undefined;
      return stale ?? removeObjects(decision.remove, snapshot, cluster);
    }
    case "clean": {
      const stale = await ensureObjects(decision.ensure, snapshot, cluster);
      // A process that has not seen the drain start again would delete a generation that runs queries.
      const moved = stale ?? (cluster.wroteLast(snapshot.engine) ? undefined : await movedOn(snapshot, cluster));
      return moved ?? removeObjects(decision.remove, snapshot, cluster);
    }
    default:
      return decision satisfies never;
  }
}

async function ensureObjects(
  ensure: Ensure,
  snapshot: EngineSnapshot,
  cluster: EngineCluster,
): Promise<string | undefined> {
  const { identity } = snapshot;
  const { obstacle, statefulSet, routing } = ensure;
  const route = async () => (routing === undefined ? undefined : writeRouting(routing, snapshot, cluster));
  // Before the first cut-over nothing serves, and the Service comes last.
  const serves = snapshot.generations.active >= 0;
  const unrouted = serves ? await route() : undefined;
  if (unrouted !== undefined) return unrouted;
  if (obstacle !== undefined) throw new ChildInTheWayError(identity.namespace, obstacle);
  const stale =
    (await ensureParts(ensure, identity, cluster)) ??
    (statefulSet &&
      (await created("StatefulSet", cluster.createChild("StatefulSet", statefulSet), {
        object: statefulSet,
        identity,
        cluster,
      })));
  return stale ?? (serves ? undefined : await route());
}

/** In the order of the declaration; the first reason to discard the pass ends it. */
async function ensureParts(
  ensure: Ensure,
  identity: EngineIdentity,
  cluster: EngineCluster,
): Promise<string | undefined> {
  for (const part of PART_NAMES) {
    const stale = await ensurePart(part, ensure[part], identity, cluster);
    if (stale !== undefined) return stale;
  }
  return undefined;
}

async function ensurePart<P extends Part>(
  part: P,
  write: Apply<PartObject<P>> | undefined,
  identity: EngineIdentity,
  cluster: EngineCluster,
): Promise<string | undefined> {
  if (write === undefined) return undefined;
  const { object, exists } = write;
  const { kind } = PARTS[part];
  const apply = () => cluster.applyChild<PartKind<P>>(kind, object);
  if (!exists)
    return created(kind, cluster.createChild<PartKind<P>>(kind, object), { object, identity, cluster, apply });
  await apply();
  return undefined;
}

interface Creation {
  readonly object: { readonly metadata?: { readonly name?: string } };
  readonly identity: EngineIdentity;
  readonly cluster: EngineCluster;
  /** Absent for a StatefulSet, which is never changed. */
  readonly apply?: () => Promise<void>;
}

/**
 * Undefined when it was created. Otherwise the cache was behind, or it will never show the object: another owner holds
 * the name, or the object is the engine's own and lost its label. That one gets the label back; creating it again would
 * fail for ever.
 */
async function created(
  kind: ChildKind,
  result: Promise<CreateResult>,
  { object, identity: { namespace, name: engine, uid }, cluster, apply }: Creation,
): Promise<string | undefined> {
  if ((await result) === "created") return undefined;
  const name = object.metadata?.name ?? "";
  const found = await cluster.readChild<ChildKind>(kind, { namespace, name });
  const isForeign = found !== undefined && !isOwnedBy(found.metadata, uid);
  if (isForeign) throw new ChildInTheWayError(namespace, { kind, name, type: "foreign" });
  const isHidden = found !== undefined && found.metadata?.labels?.[LABEL.engine] !== engine;
  if (!isHidden || found.metadata?.deletionTimestamp !== undefined || apply === undefined)
    return `the ${kind} exists already`;
  await apply();
  return undefined;
}

/**
 * A process that has not seen the last steps of a rollout would send queries to a generation that drains or no longer
 * exists: back to the old one, or forward to one that was abandoned since. The write is bound to the version of the
 * Service, so only the engine has to be read.
 */
async function writeRouting(
  routing: RoutingWrite,
  snapshot: EngineSnapshot,
  cluster: EngineCluster,
): Promise<string | undefined> {
  const { routing: seen, generations } = snapshot;
  // A selector that is no generation of the engine does not show where traffic was.
  const isForward = seen.type === "live" && seen.target >= 0 && seen.target <= routing.generation;
  // The regular switch follows a status that this process has just stored. Everything else is rare, and is confirmed in
  // any case.
  const isSure = generations.active < 0 || (isForward && cluster.wroteLast(snapshot.engine));
  const stale = isSure ? undefined : await movedOn(snapshot, cluster);
  if (stale !== undefined) return stale;
  const result = await cluster.writeRoutingService(routing);
  return result === "conflict" ? "the routing Service has changed" : undefined;
}

/** Reads the engine: whether the pass decides by a state that is no longer stored. */
async function movedOn(snapshot: EngineSnapshot, cluster: EngineCluster): Promise<string | undefined> {
  const engine = await confirmEngine(cluster, snapshot.identity);
  return engine === undefined || !isUnmoved(engine, snapshot) ? MOVED_ON : undefined;
}

async function removeObjects(
  removals: readonly Removal[],
  { identity }: EngineSnapshot,
  cluster: EngineCluster,
): Promise<string | undefined> {
  for (const removal of removals) {
    const result = await cluster.remove(identity.namespace, removal);
    // Without a version a conflict only means that the observed object was deleted and another has its name.
    if (result === "conflict" && removal.resourceVersion !== undefined)
      return `${removal.kind} ${removal.name} has changed`;
  }
  return undefined;
}

/**
 * The phase too: when the switch to a generation has begun, a stale pass must not abandon it (nor while queries are
 * routed to it). And the spec: a generation must not be abandoned for an edit that has been reverted.
 */
function isUnmoved(view: ConfirmedEngine, { engine, phase, generations }: EngineSnapshot): boolean {
  const { current, active, draining } = view.generations;
  return (
    view.specGeneration === engine.metadata?.generation &&
    view.phase === phase &&
    current === generations.current &&
    active === generations.active &&
    draining === generations.draining
  );
}

function isStillRouted({ routingTarget }: ConfirmedView, { routing }: EngineSnapshot): boolean {
  return routingTarget === (routing.type === "absent" ? -1 : routing.target);
}

/** The table of moves and the arithmetic of generations, as the last line before any write. */
function guardMove({ phase: from, generations }: EngineSnapshot, status: NextStatus): void {
  const { phase: to, currentGeneration: current, activeGeneration: active } = status;
  if (!isLegalMove(from, to)) throw new InvariantError(`illegal move from ${from} to ${to}`);
  const stays = current === generations.current;
  const isNext = current === generations.highest + 1 && mayBump(from);
  const isForward = (stays || isNext) && active >= generations.active && active <= current;
  if (!isForward && !isSwitchedBack(generations, status, from))
    throw new InvariantError(
      `illegal step from generations ${generations.current}/${generations.active} to ${current}/${active} in ${from}`,
    );
}

/** The draining generation and the one that was to replace it change places. */
function isSwitchedBack(before: Generations, status: NextStatus, from: StoredPhase): boolean {
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
      return "requeue";
    default:
      return decision satisfies never;
  }
}
