// One pass over one engine, a straight line (behaviour §1.1): entry, deletion, finalizer, observe, compute, apply, sweep,
// metrics. Knows the outside only through its world, so the model test runs it as it is.
import { FireboltEngine } from "../api/engine.ts";
import type { OperatorDefaults } from "../api/operator-defaults.ts";
import type { NextCheck } from "../kube/controller.ts";
import { InvariantError, NotLeaderError } from "../kube/errors.ts";
import type { EventSink } from "../kube/event-object.ts";
import type { Logger } from "../kube/logger.ts";
import { type Applied, applyDecision } from "./apply.ts";
import { withAutoStop } from "./auto-stop/step.ts";
import type { Engine } from "./children.ts";
import { computeEngine } from "./compute/compute-engine.ts";
import { type EngineDecision, RECHECK_MS } from "./decision.ts";
import { deleteEngine } from "./deletion.ts";
import type { EngineMetrics } from "./metrics-hooks.ts";
import { observeEngine } from "./observe.ts";
import { tell } from "./pass-report.ts";
import { refuseRejected } from "./rejected-child.ts";
import type { EngineSnapshot, PodCount } from "./snapshot.ts";
import { identityOf, storedPhase } from "./stored-state.ts";
import { sweepOrphans } from "./sweep.ts";
import type { ResourceBounds } from "./validate.ts";
import { decorateReady } from "./warnings.ts";
import type { EngineKey, EngineWorld } from "./world.ts";

export interface PassDeps {
  readonly defaults: OperatorDefaults;
  readonly bounds: ResourceBounds;
  readonly nowMs: () => number;
  readonly events: EventSink;
  readonly metrics: EngineMetrics;
  readonly logger: Logger;
}

export async function runEnginePass(world: EngineWorld, key: EngineKey, deps: PassDeps): Promise<NextCheck> {
  const engine = world.engine(key);
  if (engine === undefined) {
    deps.metrics.removed(key);
    return "onChange";
  }
  if (engine.metadata?.deletionTimestamp !== undefined) {
    const next = await deleteEngine(world, engine, { ...deps, nowMs: deps.nowMs() });
    deps.metrics.removed(key);
    return next;
  }
  if (engine.metadata?.finalizers?.includes(FireboltEngine.finalizer) !== true) {
    await world.addFinalizer(engine);
    return "now";
  }
  if (storedPhase(engine) === "uninitialised") return nextOf((await decideAndApply(world, engine, deps)).applied);
  return sweptPass(world, engine, deps);
}

interface Outcome {
  readonly applied: Applied;
  readonly pods: PodCount;
}

async function decideAndApply(world: EngineWorld, engine: Engine, deps: PassDeps): Promise<Outcome> {
  const { defaults, bounds, logger } = deps;
  const snapshot = await observeEngine(world, engine, { defaults, bounds, nowMs: deps.nowMs() });
  const decided = await decorateReady(computeEngine(snapshot), snapshot, { world, logger });
  const decision = await withAutoStop(decided, snapshot, world);
  const [carriedOut, applied] = await applyOrRefuse(decision, snapshot, world);
  tell({ decision: carriedOut, snapshot, applied }, deps);
  return { applied, pods: snapshot.pods };
}

/** Trying an invalid object again and again helps nobody: then the refusal is what the pass comes to. */
async function applyOrRefuse(
  decision: EngineDecision,
  snapshot: EngineSnapshot,
  world: EngineWorld,
): Promise<readonly [EngineDecision, Applied]> {
  try {
    return [decision, await applyDecision(decision, snapshot, world)];
  } catch (error) {
    const refusal = refuseRejected(error, decision, snapshot);
    if (refusal === undefined) throw error;
    return [refusal, await applyDecision(refusal, snapshot, world)];
  }
}

/** Leftovers go in every pass, behind closed gates and after failures too; only a defect leaves everything as it is. */
async function sweptPass(world: EngineWorld, engine: Engine, deps: PassDeps): Promise<NextCheck> {
  let outcome: Outcome | undefined;
  try {
    outcome = await decideAndApply(world, engine, deps);
  } catch (error) {
    if (!(error instanceof InvariantError || error instanceof NotLeaderError || world.signal.aborted))
      await sweep(world, engine, deps);
    throw error;
  } finally {
    recordPass(engine, outcome, deps);
  }
  const backlog = (await sweep(world, engine, deps)) === "backlog";
  return backlog ? earliest(nextOf(outcome.applied), RECHECK_MS.sweepBacklog) : nextOf(outcome.applied);
}

function sweep(world: EngineWorld, engine: Engine, { logger, metrics }: PassDeps) {
  const identity = identityOf(engine);
  return sweepOrphans({ world, identity, logger, onDeleted: (kind) => metrics.orphanDeleted(identity, kind) });
}

function recordPass(engine: Engine, outcome: Outcome | undefined, { metrics, nowMs }: PassDeps): void {
  const { namespace, name } = identityOf(engine);
  const stored = outcome?.applied.type === "done" ? outcome.applied.engine : engine;
  metrics.passEnded({
    engine: { namespace, name },
    instance: engine.spec?.instanceRef ?? "",
    status: stored.status,
    replicas: engine.spec?.replicas ?? 0,
    pods: outcome?.pods,
    succeeded: outcome !== undefined,
    nowMs: nowMs(),
  });
}

function nextOf(applied: Applied): NextCheck {
  switch (applied.type) {
    case "done":
      return applied.recheck;
    case "discarded":
      return "now";
    case "gone":
      return "onChange";
    default:
      return applied satisfies never;
  }
}

function earliest(next: NextCheck, afterMs: number): NextCheck {
  if (next === "now") return next;
  return { afterMs: next === "onChange" ? afterMs : Math.min(next.afterMs, afterMs) };
}
