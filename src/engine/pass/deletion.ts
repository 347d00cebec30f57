// Deletion of an engine (docs/design/engine.md#deletion): delete every child, collect the errors, and remove the
// finalizer last and only when every delete was accepted. Ignores phase, class and instance; drains nothing.

import { type Logger, NotLeaderError } from "@firebolt-operator/kube";
import type { NextCheck } from "@firebolt-operator/kube/controller";
import type { EventSink } from "@firebolt-operator/kube/events";
import { withVerdict } from "../../api/condition-list.ts";
import type { EngineEventReason } from "../../api/events.ts";
import { FireboltEngine } from "../../api/firebolt-engine/engine.ts";
import type { EngineStatus } from "../../api/firebolt-engine/status.ts";
import type { EngineCluster } from "../cluster/engine-cluster.ts";
import { CHILD_KINDS, CHILDREN } from "../model/child-kinds.ts";
import { type ChildObject, controllerUid, type Engine, isOwnedBy } from "../model/children.ts";
import type { Removal } from "../model/decision.ts";
import { withoutShown } from "../model/shown-state.ts";
import { generationsOf, identityOf } from "../model/stored-state.ts";
import { regarding } from "../report/events.ts";

export interface DeletionDeps {
  readonly events: EventSink<EngineEventReason>;
  readonly logger: Logger;
  readonly nowMs: number;
}

/** Finalizers that Kubernetes itself puts on an object that waits for its dependents. */
const ORPHAN = "orphan";
const BUILT_IN_FINALIZERS: ReadonlySet<string> = new Set(["foregroundDeletion", ORPHAN]);

export async function deleteEngine(cluster: EngineCluster, engine: Engine, deps: DeletionDeps): Promise<NextCheck> {
  if (engine.metadata?.finalizers?.includes(FireboltEngine.finalizer) !== true) return "onChange";
  const errors: unknown[] = [];
  const { uid } = identityOf(engine);
  // Deleted with --cascade=orphan: the garbage collector takes the owner references away, and the children stay.
  if (engine.metadata.finalizers.includes(ORPHAN)) {
    await cluster.removeFinalizer(engine);
    deps.logger.info("engine deleted, its objects are orphaned", {});
    return "onChange";
  }
  const owned = (await childrenOf(cluster, engine, deps, errors)).filter(({ metadata }) => isOwnedBy(metadata, uid));
  for (const child of owned) await removeChild(cluster, child, deps, errors);
  for (const pod of orphanedPods(cluster, engine)) await removeChild(cluster, pod, deps, errors);
  // All of them are tried before the first failure counts; the finalizer stays until none is left.
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} of the engine's objects could not be deleted`, {
      cause: errors[0],
    });
  const latest = await reportForeignFinalizers(cluster, engine, owned, deps);
  await cluster.removeFinalizer(latest);
  deps.logger.info("engine deleted", { children: owned.length });
  return "onChange";
}

/**
 * Kinds that matter at once are listed at the API server; of the rest what no cache has seen yet is garbage-collected.
 */
async function childrenOf(
  cluster: EngineCluster,
  engine: Engine,
  { logger }: DeletionDeps,
  errors: unknown[],
): Promise<readonly ChildObject[]> {
  const identity = identityOf(engine);
  const cached = cluster.children(identity);
  const found: ChildObject[] = [];
  for (const kind of CHILD_KINDS) {
    const seen = cached.filter((child) => child.kind === kind);
    try {
      found.push(...(CHILDREN[kind].listedOnDeletion ? await cluster.listChildren(kind, identity) : seen));
    } catch (error) {
      collect(cluster, error, errors);
      logger.error(`the engine's ${kind}s could not be listed`, error);
      found.push(...seen);
    }
  }
  return found;
}

/** Pods whose StatefulSet was deleted without them: nothing else would ever delete them. */
function orphanedPods(cluster: EngineCluster, engine: Engine): readonly Doomed[] {
  const { current, active, draining = -1 } = generationsOf(engine);
  return [...new Set([current, active, draining])]
    .flatMap((generation) => cluster.pods(identityOf(engine), generation))
    .flatMap(({ metadata }) =>
      metadata === undefined || controllerUid(metadata) !== undefined ? [] : [{ kind: "Pod" as const, metadata }],
    );
}

type Doomed = { readonly kind: Removal["kind"]; readonly metadata: ChildObject["metadata"] };

async function removeChild(
  cluster: EngineCluster,
  { kind, metadata }: Doomed,
  { logger }: DeletionDeps,
  errors: unknown[],
): Promise<void> {
  const { namespace = "", name, uid, deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined || name === undefined || uid === undefined) return;
  try {
    await cluster.remove(namespace, { kind, name, uid });
  } catch (error) {
    collect(cluster, error, errors);
    logger.error("an object of the engine could not be deleted", error, { kind, object: name });
  }
}

/** A process that shuts down, or no longer leads, must not continue with the next object. */
function collect(cluster: EngineCluster, error: unknown, errors: unknown[]): void {
  if (cluster.signal.aborted || error instanceof NotLeaderError) throw error;
  errors.push(error);
}

/** They do not block: the engine is deleted, and the event names the objects that remain. */
async function reportForeignFinalizers(
  cluster: EngineCluster,
  engine: Engine,
  children: readonly ChildObject[],
  { events, logger, nowMs }: DeletionDeps,
): Promise<Engine> {
  const held = children.flatMap(({ kind, metadata }) => {
    const foreign = (metadata.finalizers ?? []).filter((finalizer) => !BUILT_IN_FINALIZERS.has(finalizer));
    return foreign.length === 0 ? [] : [`- ${kind}/${metadata.name}: ${foreign.join(", ")}`];
  });
  if (held.length === 0) return engine;
  const note = `Finalizers of other controllers hold objects of the engine: ${held.join("; ")}`;
  events.record({
    regarding: regarding(engine),
    type: "Warning",
    reason: "ExternalFinalizerOnOwnedResource",
    action: "Deleting",
    note,
  });
  try {
    const result = await cluster.writeStatus(engine, externalFinalizerStatus(engine, note, nowMs));
    return result.type === "written" ? result.engine : engine;
  } catch (error) {
    if (cluster.signal.aborted || error instanceof NotLeaderError) throw error;
    logger.error("foreign finalizers could not be reported", error);
    return engine;
  }
}

function externalFinalizerStatus(engine: Engine, message: string, nowMs: number): EngineStatus {
  const { current, active } = generationsOf(engine);
  const verdict = { type: "Ready", status: "False", reason: "ExternalFinalizer", message } as const;
  const context = { nowMs, observedGeneration: engine.metadata?.generation ?? 0 };
  const conditions = withVerdict(engine.status?.conditions, verdict, context);
  return { ...withoutShown(engine.status), currentGeneration: current, activeGeneration: active, conditions };
}
