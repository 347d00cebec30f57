// Writes one rendered object: creates it, or updates one that the instance owns. Any other object of that name is an
// error that names it. Nothing is ever adopted.
import { isInvalid, isNotFound, type Logger } from "@firebolt-operator/kube";
import type { InstanceCluster } from "../cluster/instance-cluster.ts";
import { isAsRendered, outcomeOf } from "../drift/as-rendered.ts";
import { type ChildKind, type Rendered, viewChild } from "../model/children.ts";
import type { Write } from "../model/decision.ts";
import type { InstanceMemory } from "../model/memory.ts";
import type { InstanceIdentity } from "../model/names.ts";
import { ChildWriteError, problemOf, takenProblem } from "../model/rejection.ts";
import { childKey } from "../model/snapshot.ts";

export interface WriteObjectDeps {
  readonly cluster: InstanceCluster;
  readonly memory: InstanceMemory;
  readonly logger: Logger;
  /** Called when an object that another writer deleted or changed is restored. */
  readonly onRestored: (restored: Restored) => void;
}

export interface Restored {
  readonly kind: ChildKind;
  readonly name: string;
  /** Deleted, or changed by a field manager, if known. */
  readonly damage: { readonly type: "deleted" } | { readonly type: "changed"; readonly by: string | undefined };
}

/** Stale: the state that was read has changed. Early: a part of the API server has not yet observed a recent write. */
export type Made = "made" | "stale" | "early";

export async function createObject(
  { object, isRepair }: Pick<Extract<Write, { type: "create" }>, "object" | "isRepair">,
  identity: InstanceIdentity,
  deps: WriteObjectDeps,
): Promise<Made> {
  const outcome = await orWrapped(object.kind, object.metadata.name, deps.cluster.create(object)).catch(
    (error: unknown) => {
      if (error instanceof Error && isNotFound(error.cause) && bindsOwnRole(object)) return "early" as const;
      throw error;
    },
  );
  if (outcome === "exists") return takeExisting({ object, isRepair }, identity, deps);
  if (outcome === "early") return "early";
  noteWrite("object created", object, deps);
  if (isRepair) deps.onRestored({ kind: object.kind, name: object.metadata.name, damage: { type: "deleted" } });
  return "made";
}

/**
 * The cache has no object of this name, but there is one: the cache lags behind, the object lost its label, or it
 * belongs to someone else. Its owner reference decides.
 */
async function takeExisting(
  { object, isRepair }: Pick<Extract<Write, { type: "create" }>, "object" | "isRepair">,
  identity: InstanceIdentity,
  deps: WriteObjectDeps,
): Promise<Made> {
  const { kind, metadata } = object;
  const { namespace, name } = metadata;
  const found = viewChild(await deps.cluster.readChild(kind, { namespace, name }), identity.uid);
  switch (found.type) {
    case "absent":
      return "stale";
    case "live":
      return updateObject({ object, uid: found.object.metadata.uid ?? "", isRepair }, deps);
    case "foreign":
    case "terminating":
      throw new ChildWriteError(kind, name, takenProblem(found.object.metadata, identity));
    default:
      return found satisfies never;
  }
}

export async function updateObject(
  { object, uid, isRepair }: Omit<Extract<Write, { type: "update" }>, "type">,
  deps: WriteObjectDeps,
): Promise<Made> {
  const { cluster } = deps;
  let by: string | undefined;
  try {
    const update = await cluster.update(object, uid);
    // Not "stale": a watch that lags behind must not make the operator repeat the pass without a pause.
    if (update.type === "conflict") return "early";
    by = update.editor;
  } catch (error) {
    if (!isInvalid(error)) throw wrapped(object.kind, object.metadata.name, error);
    // An apply merges keyed lists: entries of other writers (such as a port of the same name) can make the result
    // invalid.
    await orWrapped(object.kind, object.metadata.name, cluster.overwrite(object, uid));
  }
  noteWrite("object updated", object, deps);
  if (isRepair) deps.onRestored({ kind: object.kind, name: object.metadata.name, damage: { type: "changed", by } });
  return "made";
}

export async function rehearse(object: Rendered, cluster: Pick<InstanceCluster, "rehearse">): Promise<void> {
  await orWrapped(object.kind, object.metadata.name, cluster.rehearse(object));
}

/**
 * The API server looks up the Role in a cache of its own before it stores a binding: a Role that was written a moment
 * ago may be missing there, and one that existed may just have been deleted. A shared ClusterRole is not written by the
 * operator: there is nothing to wait for.
 */
function bindsOwnRole(object: Rendered): boolean {
  return object.kind === "RoleBinding" && object.roleRef.kind === "Role";
}

/** Where the API server stored something else than was requested, the next pass must not request it again. */
function noteWrite(message: string, object: Rendered, { cluster, memory, logger }: WriteObjectDeps): void {
  const { kind, metadata } = object;
  logger.info(message, { kind, object: metadata.name });
  const live = cluster.child(kind, { namespace: metadata.namespace, name: metadata.name });
  const key = childKey(kind, metadata.name);
  if (live === undefined || isAsRendered(live, object)) memory.outcomes.delete(key);
  else memory.outcomes.set(key, outcomeOf(live, object));
}

/** An error that names the object. */
export function wrapped(kind: ChildKind, name: string, error: unknown): Error {
  return new ChildWriteError(kind, name, problemOf(error), error);
}

async function orWrapped<T>(kind: ChildKind, name: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw wrapped(kind, name, error);
  }
}
