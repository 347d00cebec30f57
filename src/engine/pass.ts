// One pass over one engine, a straight line (docs/design/engine.md#one-pass): entry, deletion, finalizer, observe, compute, apply, sweep,
// metrics. Knows the outside only through its world, so the model test runs it as it is.
import { InvariantError, isConflict, isNotFound, type Logger, NotLeaderError } from "@firebolt-operator/kube";
import { type NextCheck, RetryAfterError } from "@firebolt-operator/kube/controller";
import type { EventSink } from "@firebolt-operator/kube/events";
import type { Condition } from "../api/conditions.ts";
import { FireboltEngine } from "../api/engine.ts";
import type { OperatorDefaults } from "../api/operator-defaults.ts";
import { type Applied, applyObjects, applyStatus } from "./apply.ts";
import { withAutoStop } from "./auto-stop/step.ts";
import type { Engine } from "./children.ts";
import { computeEngine } from "./compute/compute-engine.ts";
import { withFailure } from "./compute/failure-suffix.ts";
import { type EngineDecision, RECHECK_MS } from "./decision.ts";
import { deleteEngine } from "./deletion.ts";
import type { EngineMetrics } from "./metrics-hooks.ts";
import { nameEditor } from "./name-editor.ts";
import { observeEngine } from "./observe.ts";
import { failureText, recordFailure } from "./pass-failure.ts";
import { tell } from "./pass-report.ts";
import { refuseRejected } from "./rejected-child.ts";
import type { EngineSnapshot, PodCount } from "./snapshot.ts";
import { writeStatus } from "./status-write.ts";
import { generationsOf, identityOf, storedPhase } from "./stored-state.ts";
import { sweepOrphans } from "./sweep.ts";
import type { ResourceBounds } from "./validate.ts";
import { decorateReady } from "./warnings.ts";
import type { EngineKey, EngineWorld } from "./world.ts";

export interface PassDeps {
  readonly defaults: OperatorDefaults;
  readonly bounds: ResourceBounds;
  /** How long after a switch a drain probe counts. */
  readonly drainSettleMs: number;
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
    world.evaluations?.forget(identityOf(engine).uid);
    deps.metrics.removed(key);
    return next;
  }
  if (engine.metadata?.finalizers?.includes(FireboltEngine.finalizer) !== true) {
    await world.addFinalizer(engine);
    return "requeue";
  }
  if (storedPhase(engine) === "uninitialised") return nextOf((await decideAndApply(world, engine, deps)).applied);
  return sweptPass(world, engine, deps);
}

interface Outcome {
  readonly applied: Applied;
  readonly pods: PodCount;
}

async function decideAndApply(world: EngineWorld, engine: Engine, deps: PassDeps): Promise<Outcome> {
  const { snapshot, decision } = await decide(world, engine, deps);
  const [carriedOut, applied] = await applyOrRefuse(decision, snapshot, { world, deps });
  tell({ decision: carriedOut, snapshot, applied }, deps);
  throwRejectedScaling(applied);
  return { applied, pods: snapshot.pods };
}

async function decide(world: EngineWorld, engine: Engine, deps: PassDeps) {
  const { defaults, bounds, logger, drainSettleMs } = deps;
  try {
    const snapshot = await observeEngine(world, engine, { defaults, bounds, drainSettleMs, nowMs: deps.nowMs() });
    const decided = await decorateReady(computeEngine(snapshot), snapshot, { world, logger });
    const attributed = await nameEditor(decided, snapshot, { world, logger });
    return { snapshot, decision: await withAutoStop(attributed, snapshot, world) };
  } catch (error) {
    await showFailure(error, { engine, conditions: engine.status?.conditions }, { world, deps });
    throw error;
  }
}

/**
 * A wake or a stop that was not written is a failed pass, though all else is stored. Only a newer version of the engine is none. Somebody
 * may wait for the wake: it is tried again at the pace of a gate.
 */
function throwRejectedScaling(applied: Applied): void {
  if (applied.type !== "done" || applied.scaled?.type !== "refused") return;
  const { because } = applied.scaled;
  if (isConflict(because) || isNotFound(because)) return;
  const why = because instanceof Error ? because.message : String(because);
  throw new RetryAfterError(`spec.replicas was not written: ${why}`, { afterMs: RECHECK_MS.gate, cause: because });
}

/**
 * A refused object is not tried again at once: then the refusal is what the pass comes to. After any other failure to write an object
 * what was observed is still stored, so that Ready does not stay True while a repair cannot be written. A failure to write the status is
 * just that.
 */
async function applyOrRefuse(
  decision: EngineDecision,
  snapshot: EngineSnapshot,
  { world, deps }: PassIo,
): Promise<readonly [EngineDecision, Applied]> {
  try {
    const discarded = await applyObjects(decision, snapshot, world);
    if (discarded !== undefined) return [decision, discarded];
  } catch (error) {
    const refusal = refuseRejected(error, decision, snapshot);
    if (refusal === undefined) {
      const { engine } = snapshot;
      const { conditions } = (decision.type === "hold" ? decision : engine).status ?? {};
      await showFailure(error, { engine, conditions }, { world, deps });
      throw error;
    }
    // A query that wakes the engine does not wait for a repair: the generation that it starts needs none of it.
    const isScaled = decision.type === "hold" && decision.scale !== undefined;
    const outcome = isScaled ? decision : refusal;
    return [outcome, await applyStatus(outcome, snapshot, world)];
  }
  return [decision, await applyStatus(decision, snapshot, world)];
}

interface PassIo {
  readonly world: EngineWorld;
  readonly deps: PassDeps;
}

interface Observed {
  readonly engine: Engine;
  readonly conditions: readonly Readonly<Condition>[] | undefined;
}

/** The conditions, with the failure if it is one that lasts, and nothing else: the step itself has not been taken. */
async function showFailure(
  error: unknown,
  { engine, conditions = [] }: Observed,
  { world, deps }: PassIo,
): Promise<void> {
  if (isFatal(error, world) || storedPhase(engine) === "uninitialised") return;
  const { current, active } = generationsOf(engine);
  const text = failureText(error);
  const shown = text === undefined ? conditions.map((condition) => ({ ...condition })) : withFailure(conditions, text);
  const counters = { currentGeneration: current, activeGeneration: active };
  try {
    await writeStatus(world, engine, { ...counters, ...engine.status, conditions: shown }, deps.nowMs());
  } catch (second) {
    // The failure that led here is the one that the pass reports.
    deps.logger.error("conditions could not be stored after a failed pass", second);
  }
  if (text !== undefined) recordFailure(engine, text, deps.events);
}

/** A defect, a lost lease or the end of the process: nothing more is written. */
function isFatal(error: unknown, world: EngineWorld): boolean {
  return error instanceof InvariantError || error instanceof NotLeaderError || world.signal.aborted;
}

/** Leftovers go in every pass, behind closed gates and after failures too; only a defect leaves everything as it is. */
async function sweptPass(world: EngineWorld, engine: Engine, deps: PassDeps): Promise<NextCheck> {
  let outcome: Outcome | undefined;
  try {
    outcome = await decideAndApply(world, engine, deps);
  } catch (error) {
    if (!isFatal(error, world)) await sweep(world, engine, deps);
    throw error;
  } finally {
    recordPass(engine, outcome, deps);
  }
  const backlog = (await sweptOrTold(world, engine, deps)) === "backlog";
  return backlog ? earliest(nextOf(outcome.applied), RECHECK_MS.sweepBacklog) : nextOf(outcome.applied);
}

/** The status has been written by then, and would be written twice in every pass: an event has to do. */
async function sweptOrTold(world: EngineWorld, engine: Engine, deps: PassDeps) {
  try {
    return await sweep(world, engine, deps);
  } catch (error) {
    const text = isFatal(error, world) ? undefined : failureText(error);
    if (text !== undefined) recordFailure(engine, text, deps.events);
    throw error;
  }
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
      return { afterMs: RECHECK_MS.stale };
    case "gone":
      return "onChange";
    default:
      return applied satisfies never;
  }
}

function earliest(next: NextCheck, afterMs: number): NextCheck {
  if (next === "requeue") return next;
  return { afterMs: next === "onChange" ? afterMs : Math.min(next.afterMs, afterMs) };
}
