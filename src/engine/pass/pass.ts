// One pass over one engine, a straight line (docs/design/engine.md#one-pass): entry, deletion, finalizer, observe,
// compute, apply, sweep, metrics. Reaches the cluster only through EngineCluster, so the model test runs it as it is.
import { isConflict, isNotFound, type Logger } from "@firebolt-operator/kube";
import { type NextCheck, RetryAfterError } from "@firebolt-operator/kube/controller";
import type { EventSink } from "@firebolt-operator/kube/events";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { OperatorDefaults } from "../../api/operator-defaults.ts";
import type { EngineCluster, EngineKey } from "../cluster/engine-cluster.ts";
import { computeEngine } from "../compute/compute-engine.ts";
import type { EngineMetrics } from "../metrics-hooks.ts";
import type { Engine } from "../model/children.ts";
import { RECHECK_MS } from "../model/decision.ts";
import type { PodCount } from "../model/snapshot.ts";
import { identityOf, storedPhase } from "../model/stored-state.ts";
import type { ResourceBounds } from "../model/validate.ts";
import { failureText, recordFailure } from "../report/failure.ts";
import { report } from "../report/report.ts";
import { type Applied, applyObjects, applyStatus } from "./apply.ts";
import { deleteEngine } from "./deletion.ts";
import { type Observed, observeEngine } from "./observe.ts";
import { isFatal, orShowFailure } from "./show-failure.ts";
import { sweepOrphans } from "./sweep.ts";

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

export async function runEnginePass(cluster: EngineCluster, key: EngineKey, deps: PassDeps): Promise<NextCheck> {
  const engine = cluster.engine(key);
  if (engine === undefined) {
    deps.metrics.removed(key);
    return "onChange";
  }
  if (engine.metadata?.deletionTimestamp !== undefined) {
    const next = await deleteEngine(cluster, engine, { ...deps, nowMs: deps.nowMs() });
    cluster.evaluations?.forget(identityOf(engine).uid);
    deps.metrics.removed(key);
    return next;
  }
  if (engine.metadata?.finalizers?.includes(FireboltEngine.finalizer) !== true) {
    await cluster.addFinalizer(engine);
    return "requeue";
  }
  if (storedPhase(engine) === "uninitialised") return nextOf((await decideAndApply(cluster, engine, deps)).applied);
  return sweptPass(cluster, engine, deps);
}

interface Outcome {
  readonly applied: Applied;
  readonly pods: PodCount;
}

/**
 * Observe, compute, apply, and report what was done. A child that the API server rejected is an input of a second
 * decision in the same pass, of which only the status is written. A status that could not be written is not followed by
 * another.
 */
async function decideAndApply(cluster: EngineCluster, engine: Engine, deps: PassDeps): Promise<Outcome> {
  const io = { cluster, ...deps };
  const { snapshot, step, decision } = await orShowFailure(
    io,
    engine,
    { status: engine.status, isNew: false },
    async () => decide(await observeEngine(cluster, engine, { ...deps, nowMs: deps.nowMs() })),
  );
  // After a failure what was observed is still stored, so that Ready does not stay True while a repair cannot be
  // written.
  const { status } = decision.type === "hold" ? decision : engine;
  // Until the pods of a drain have responded, the decision repeats the stored message.
  const isKept = snapshot.drainProbe.type === "pending" && engine.status?.reconcileFailure === undefined;
  const isNew = decision.type === "hold" && !isKept;
  const objects = await orShowFailure(io, engine, { status, isNew }, () => applyObjects(decision, snapshot, cluster));
  const last =
    objects.type === "rejected"
      ? decide({ snapshot: { ...snapshot, rejected: objects.rejected }, step })
      : { snapshot, decision };
  const applied = objects.type === "discarded" ? objects : await applyStatus(last.decision, last.snapshot, cluster);
  report({ ...last, applied }, deps);
  throwRejectedScaling(applied);
  return { applied, pods: snapshot.pods };
}

const decide = ({ snapshot, step }: Observed) => ({ snapshot, step, decision: computeEngine(snapshot, step) });

/**
 * A wake or a stop that was not written is a failed pass, though all else is stored. Only a newer version of the engine
 * is none. A query may wait for the wake: it is retried at the pace of a gate.
 */
function throwRejectedScaling(applied: Applied): void {
  if (applied.type !== "done" || applied.scaled?.type !== "refused") return;
  const { because } = applied.scaled;
  if (isConflict(because) || isNotFound(because)) return;
  const why = because instanceof Error ? because.message : String(because);
  throw new RetryAfterError(`spec.replicas was not written: ${why}`, { afterMs: RECHECK_MS.gate, cause: because });
}

/**
 * Orphaned objects are deleted in every pass, behind closed gates and after failures too; only a defect leaves them.
 */
async function sweptPass(cluster: EngineCluster, engine: Engine, deps: PassDeps): Promise<NextCheck> {
  let outcome: Outcome | undefined;
  try {
    outcome = await decideAndApply(cluster, engine, deps);
  } catch (error) {
    if (!isFatal(error, cluster)) await sweep(cluster, engine, deps);
    throw error;
  } finally {
    recordPass(engine, outcome, deps);
  }
  const backlog = (await sweptOrReported(cluster, engine, deps)) === "backlog";
  return backlog ? earliest(nextOf(outcome.applied), RECHECK_MS.sweepBacklog) : nextOf(outcome.applied);
}

/**
 * The status has been written by then, and would be written twice in every pass: the failure is reported as an event.
 */
async function sweptOrReported(cluster: EngineCluster, engine: Engine, deps: PassDeps) {
  try {
    return await sweep(cluster, engine, deps);
  } catch (error) {
    const text = isFatal(error, cluster) ? undefined : failureText(error);
    if (text !== undefined) recordFailure(engine, text, deps.events);
    throw error;
  }
}

function sweep(cluster: EngineCluster, engine: Engine, { logger, metrics }: PassDeps) {
  const identity = identityOf(engine);
  return sweepOrphans({ cluster, identity, logger, onDeleted: (kind) => metrics.orphanDeleted(identity, kind) });
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
